//! The statements of the paths that are walked often, as data: the store runs them, and the benchmark runs them bare.
//!
//! Comes in: nothing. Goes out: text. Never here: a value; those are parameters.

use crate::schema::ROLE;
use heirloom_engine::shelf::tiers::{SEATS, UserContext};

/// The longest a statement may take.
const LONGEST: &str = "15s";

/// Candidates by vector.
const BY_VECTOR: i64 = 200;

/// The user's row of totals, locked until the transaction ends.
pub const LOCK: &str = "select episodes, facts, episode_words, fact_words, seq, hash from heirloom.owner where user_id = $1 for update";

/// Memories, a column an array. Whoever brings back what was removed wants it back.
pub const INSERT: &str = "with added as (insert into heirloom.memory
                 (user_id, id, tier, status, session, slot, occurred_at, expires_at, length, content, detail, embedding)
             select $1, id, tier, status, session, slot, occurred_at, expires_at, length, content, detail, embedding::halfvec
             from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::int[], $10::text[],
                 $11::jsonb[], $12::text[])
                 as row (id, tier, status, session, slot, occurred_at, expires_at, length, content, detail, embedding)
             on conflict do nothing returning id, place),
             back as (delete from heirloom.gone g using added a where g.user_id = $1 and g.id = a.id)
             select id, place from added";

/// Postings, a column an array.
pub const POST: &str = "insert into heirloom.post select $1, * from unnest($2::text[], $3::text[], $4::bigint[], $5::real[], $6::int[])";

/// Audit lines, a column an array, and the totals after them.
pub const APPEND: &str = "with lines as (insert into heirloom.audit select $1, * from unnest
                 ($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]))
             update heirloom.owner set seq = $8, hash = $9, episodes = $10, facts = $11, episode_words = $12, fact_words = $13
             where user_id = $1";

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

/// What a transaction begins with: the role that cannot pass, the user, the limits. Without `durable` its commit does not wait for the disk.
pub fn begin(who: &UserContext, durable: bool) -> String {
    // One round trip. Quotes are doubled and backslashes are plain, as the connection's settings say.
    let user = who.user().replace('\'', "''");
    let waits = if durable { "on" } else { "off" };
    // Whoever looks at the server's activity or its log finds the request there. The id of a trace is hex digits alone.
    let trace = who.trace().map(|id| format!("; set local application_name = 'heirloom {id}'"));
    format!(
        "set local role {ROLE}; set local statement_timeout = '{LONGEST}'; set local synchronous_commit = {waits}; \
         set local heirloom.user_id = '{user}'{}",
        trace.unwrap_or_default()
    )
}

/// What a search through the HNSW index begins with: its scan goes on until enough of the user's own rows were met.
pub const ITERATE: &str = "set local hnsw.iterative_scan = 'strict_order'; set local hnsw.ef_search = 200";

/// Candidates of a question with their scores: `many` asks the HNSW index, otherwise every vector of the user is compared.
pub fn hybrid(many: bool) -> String {
    // Adding nothing to the distance keeps the planner from the index, whose order it no longer is. The question's vector is a row of
    // its own, so that its text is read once and not for every memory.
    let distance = if many {
        "embedding <=> (select vector from question)"
    } else {
        "(embedding <=> (select vector from question)) + 0"
    };
    format!(
        "with question as materialized (select $9::text::halfvec as vector),
         by_keyword as ({KEYWORDS} order by score desc limit {BY_KEYWORD}),
         by_vector as (select place from heirloom.memory
             where user_id = $1 and tier = $2 and status = 'active' and embedding is not null and $9::text is not null
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
    select m.place, coalesce(k.score, 0)::float8, coalesce(1 - (m.embedding <=> (select vector from question)), 0)::float8,
        m.detail ->> 'trust' = 'high'
    from candidate
    join heirloom.memory m on m.user_id = $1 and m.place = candidate.place
    left join by_keyword k on k.place = candidate.place
    where m.status = 'active' and (m.expires_at is null or m.expires_at >= $10)";
