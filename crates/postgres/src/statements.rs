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
pub const VECTOR: &str = "insert into heirloom.vector (user_id, model, place, tier, embedding)
             select $1, $2, place, tier, embedding::halfvec from unnest($3::bigint[], $4::text[], $5::text[]) as row (place, tier, embedding)
             on conflict do nothing";

/// Audit lines, a column an array, and the totals after them.
pub const APPEND: &str = "select heirloom.append($1, $2, $3, $4, $5, $6, $7, $8)";

/// How many memories and words a user has, and how many memories of a tier hold each term; above a thousand all are common.
pub const TOTALS: &str = "
    select episodes, facts, episode_words, fact_words,
        array(select (select count(*) from (select from heirloom.post as p
                  where p.user_id = $1 and p.tier = $2 and p.term = asked.term limit 1000) as having_it)
              from unnest($3::text[]) with ordinality as asked (term, n) order by n)
    from heirloom.owner where user_id = $1";

/// Memories by place, as the store reads them.
pub const FETCH: &str = "select place, content, detail, status, expires_at from heirloom.memory where user_id = $1 and place = any($2)";

/// The keyword score of one posting; the count over a window is how many of the user's memories hold the term.
const KEYWORDS: &str = "
    select place, sum(weight * ln(1 + ($5::float8 - df + 0.5) / (df + 0.5)) * count * ($7::float8 + 1)
        / (count + $7::float8 * (1 - $8::float8 + $8::float8 * length / $6::float8))) as score
    from (select place, term, count, length, count(*) over (partition by term) as df
          from heirloom.post where user_id = $1 and tier = $2 and term = any($3)) as met
    join unnest($3::text[], $4::float8[]) as asked (term, weight) using (term)
    group by place";

/// Candidates by keyword.
pub const BY_KEYWORD: usize = 300;

/// What a search through the HNSW index begins with: its scan goes on until enough of the user's own rows were met.
pub const ITERATE: &str = "set local hnsw.iterative_scan = 'strict_order'; set local hnsw.ef_search = 200";

/// Candidates of a question with their scores. With dimensions the HNSW index of the model is asked; otherwise every vector of the user is compared.
pub fn hybrid(indexed: Option<usize>) -> String {
    // Adding nothing to the distance keeps the planner from the index, whose order it no longer is. The question's vector is a row of
    // its own, so that its text is read once and not for every memory.
    let distance = match indexed {
        Some(dims) => {
            format!("embedding::halfvec({dims}) <=> (select vector from question)::halfvec({dims})")
        }
        None => "(embedding <=> (select vector from question)) + 0".to_owned(),
    };
    format!(
        "with question as materialized (select $9::text::halfvec as vector),
         by_keyword as ({KEYWORDS} order by score desc limit {BY_KEYWORD}),
         by_vector as (select place from heirloom.vector
             where user_id = $1 and model = $11 and tier = $2 and embedding is not null and $9::text is not null
             order by {distance} limit {BY_VECTOR}),
         candidate as (select place from by_keyword union select place from by_vector)
         {SCORES}"
    )
}

/// Trusted memories with the question's terms, asked for where a crowd of others may have left none among the candidates.
pub fn trusted() -> String {
    format!(
        "with question as materialized (select $9::text::halfvec as vector),
         by_keyword as (select met.* from ({KEYWORDS}) as met
             join heirloom.memory as t on t.user_id = $1 and t.place = met.place
             where t.status = 'active' and t.detail ->> 'trust' = 'high' order by met.score desc limit {SEATS}),
         candidate as (select place from by_keyword)
         {SCORES}"
    )
}

/// What is known of each candidate.
const SCORES: &str = "
    select m.place, coalesce(k.score, 0)::float8, coalesce(1 - (v.embedding <=> (select vector from question)), 0)::float8,
        m.detail ->> 'trust' = 'high'
    from candidate
    join heirloom.memory m on m.user_id = $1 and m.place = candidate.place
    left join heirloom.vector v on v.user_id = $1 and v.model = $11 and v.place = candidate.place
    left join by_keyword k on k.place = candidate.place
    where m.status = 'active' and (m.expires_at is null or m.expires_at >= $10)";
