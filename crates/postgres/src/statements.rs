//! The statements of the paths that are walked often, as data: the store runs them, and the benchmark runs them bare.
//!
//! Comes in: nothing. Goes out: text. Never here: a value; those are parameters. Inserts from arrays end in `on conflict do nothing`, without which
//! Citus would send them as a COPY that row-level security refuses.

use heirloom_engine::shelf::tiers::SEATS;

/// Candidates by vector.
const BY_VECTOR: i64 = 200;

/// Dimensions up to which an HNSW index can be made.
pub const MOST_INDEXED: usize = 4_000;

/// The user's row of totals, locked until the transaction ends.
pub const LOCK: &str = "select * from heirloom.lock_chain($1)";

/// Memories, a column an array. Whoever brings back what was removed wants it back.
pub const INSERT: &str = "with added as (insert into heirloom.memory
                 (user_id, id, tier, status, session, slot, occurred_at, expires_at, length, content, detail)
             select $1, id, tier, status, session, slot, occurred_at, expires_at, length, content, detail
             from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::int[], $10::text[],
                 $11::jsonb[])
                 as row (id, tier, status, session, slot, occurred_at, expires_at, length, content, detail)
             on conflict do nothing returning id, place),
             back as (delete from heirloom.gone g using added a where g.user_id = $1 and g.id = a.id)
             select id, place from added";

/// Postings, a column an array.
pub const POST: &str = "insert into heirloom.post select $1, * from unnest($2::text[], $3::text[], $4::bigint[], $5::real[], $6::int[])
             on conflict do nothing";

/// Vectors of a model, a column an array.
pub const VECTOR: &str = "insert into heirloom.vector (user_id, model, place, tier, embedding, pieces)
             select $1, $2, place, tier, embedding::halfvec, pieces from unnest($3::bigint[], $4::text[], $5::text[], $6::bytea[])
                 as row (place, tier, embedding, pieces)
             on conflict do nothing";

/// Audit lines, a column an array, and the totals after them.
pub const APPEND: &str = "select heirloom.append($1, $2, $3, $4, $5, $6, $7, $8)";

/// How many memories and words a user has, and how many memories hold each term; of a term that more than a hundred thousand hold it is enough to know that.
pub const TOTALS: &str = "
    select episodes + facts, episode_words + fact_words,
        array(select (select count(*) from (select from heirloom.post as p
                  where p.user_id = $1 and p.tier in ('episodic', 'semantic') and p.term = asked.term limit 100000) as having_it)
              from unnest($2::text[]) with ordinality as asked (term, n) order by n)
    from heirloom.owner where user_id = $1";

/// Memories that hold one of some names, with which of some terms they hold.
pub const NAMED: &str = "
    select place, array_agg(term) from heirloom.post
    where user_id = $1 and tier = any ($2) and term = any ($3) group by place having bool_or(term = any ($4)) limit 1000";

/// Memories by place, as the store reads them.
pub const FETCH: &str = "select place, content, detail, status, expires_at from heirloom.memory where user_id = $1 and place = any($2)";

/// Word pieces of memories.
pub const PIECES: &str = "select place, pieces from heirloom.vector where user_id = $1 and model = $2 and place = any($3) and pieces is not null";

/// The keyword score of one posting; the count over a window is how many of the user's memories hold the term.
const KEYWORDS: &str = "
    select place, tier, sum(weight * ln(1 + ($5::float8 - df + 0.5) / (df + 0.5)) * count
        / (count + $7::float8 * (1 - $8::float8 + $8::float8 * length / $6::float8))) as score
    from (select place, tier, term, count, length, count(*) over (partition by term) as df
          from heirloom.post where user_id = $1 and tier in ('episodic', 'semantic') and term = any($3)) as met
    join unnest($3::text[], $4::float8[]) as asked (term, weight) using (term)
    group by place, tier";

/// Candidates by keyword.
pub const BY_KEYWORD: usize = 300;

/// What a search through the HNSW index begins with: its scan goes on until enough of the user's own rows were met.
/// Each is a message of its own: Citus hands on the whole text of the message that a setting came in.
pub const ITERATE: [&str; 2] =
    ["set local hnsw.iterative_scan = 'strict_order'", "set local hnsw.ef_search = 200"];

/// What the ranking looks at in a row `m`.
const CARD: &str = "m.place, m.tier, m.detail ->> 'session', (m.detail ->> 'position')::int, m.occurred_at, m.detail ->> 'trust', m.detail ->> 'role',
        array(select jsonb_array_elements_text(m.detail -> 'tags')), m.length, (m.detail ->> 'confidence')::float8";

/// Candidates of a question with their scores, and how the cosines of all memories are spread. With dimensions the HNSW index of the model is asked, and a
/// sample tells how cosines are spread; otherwise every vector of the user is compared.
pub fn hybrid(indexed: Option<usize>) -> String {
    // The question's vector is a row of its own, so that its text is read once and not for every memory.
    let own = "from heirloom.vector where user_id = $1 and model = $11 and embedding is not null and $9::text is not null";
    let near = match indexed {
        Some(dims) => format!(
            "near as materialized (select place, tier, 1 - (embedding <=> (select vector from question)) as cosine {own} limit {SAMPLE}),
             by_vector as (select place {own} and tier = any ($2)
                 order by embedding::halfvec({dims}) <=> (select vector from question)::halfvec({dims}) limit {BY_VECTOR})"
        ),
        None => format!(
            "near as materialized (select place, tier, 1 - (embedding <=> (select vector from question)) as cosine {own}),
             by_vector as (select place from near where tier = any ($2) order by cosine desc limit {BY_VECTOR})"
        ),
    };
    format!(
        "with question as materialized (select $9::text::halfvec as vector),
         by_keyword as (select place, score from ({KEYWORDS}) as met where tier = any ($2) order by score desc limit {BY_KEYWORD}),
         {near},
         spread as materialized (select avg(cosine)::float8 as mean, stddev_pop(cosine)::float8 as spread from near),
         candidate as (select place from by_keyword union select place from by_vector union select unnest($12::bigint[]))
         select {CARD}, coalesce(k.score, 0)::float8, (1 - (v.embedding <=> (select vector from question)))::float8,
             (select mean from spread), (select spread from spread)
         {SCORED} and m.tier = any ($2)"
    )
}

/// Vectors from which a sample tells how cosines are spread.
const SAMPLE: i64 = 1_000;

/// Trusted memories with the question's terms, asked for where a crowd of others may have left none among the candidates.
pub fn trusted() -> String {
    format!(
        "with question as materialized (select $9::text::halfvec as vector),
         by_keyword as (select met.place, met.score from ({KEYWORDS}) as met
             join heirloom.memory as t on t.user_id = $1 and t.place = met.place
             where met.tier = any ($2) and t.status = 'active' and t.detail ->> 'trust' = 'high' order by met.score desc limit {SEATS}),
         candidate as (select place from by_keyword union select unnest($12::bigint[]))
         select {CARD}, coalesce(k.score, 0)::float8, (1 - (v.embedding <=> (select vector from question)))::float8, null::float8, null::float8
         {SCORED}"
    )
}

/// The rows of candidates that are in use.
const SCORED: &str = "
    from candidate
    join heirloom.memory m on m.user_id = $1 and m.place = candidate.place
    left join heirloom.vector v on v.user_id = $1 and v.model = $11 and v.place = candidate.place
    left join by_keyword k on k.place = candidate.place
    where m.status = 'active' and (m.expires_at is null or m.expires_at >= $10)";

/// The members of stretches of conversations, with how often each holds the question's terms.
pub fn members() -> String {
    format!(
        "with question as materialized (select $7::text::halfvec as vector)
         select {CARD}, 0::float8, (1 - (v.embedding <=> (select vector from question)))::float8,
             array(select coalesce(p.count, 0)::real from unnest($6::text[]) with ordinality as asked (term, n)
                 left join heirloom.post p on p.user_id = $1 and p.tier = m.tier and p.term = asked.term and p.place = m.place order by asked.n)
         from unnest($2::text[], $3::int[], $4::int[]) as stretch (session, first, last)
         join heirloom.memory m on m.user_id = $1 and m.session = stretch.session
             and (m.detail ->> 'position')::int between stretch.first and stretch.last
         left join heirloom.vector v on v.user_id = $1 and v.model = $5 and v.place = m.place
         where m.status = 'active' and (m.expires_at is null or m.expires_at >= $8)"
    )
}
