//! Writing, changing, removing: each one transaction with its audit lines.
//!
//! Comes in: drafts that passed the gate, changes, removals. Goes out: receipts. Keywords and vectors are written with the row and go with it; a
//! memory out of use has neither. Never here: a statement that does not name its user.

use crate::audit::{Owner, append, lock};
use crate::kept::{append_kept, drop_tier};
use crate::link::PgStore;
use crate::rows::{one, others_in_slot};
use crate::session::Session;
use crate::statements;
use crate::values::{bigint, bigints, ints, jsonb, jsonbs, reals, text, texts};
use crate::vectors::Vectors;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::gate::Passed;
use heirloom_engine::shelf::tiers::{
    Change, Event, Head, LifeStatus, Mark, Receipt, Removed, Stored, Tier, TierDraft, Told, Touched,
    UserContext, Which, indexed_terms,
};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) async fn write(
    store: &PgStore,
    who: &UserContext,
    drafts: &[Passed<TierDraft>],
    made: &Vectors,
    events: &[Event],
    mark: Option<&Mark>,
) -> Result<Receipt> {
    let ready: Vec<Ready<'_>> = drafts.iter().map(|draft| Ready::new(draft.draft().stored())).collect();
    let tx = Session::begin(store, who, true).await?;
    let mut owner = lock(&tx, who).await?;
    let places = insert(&tx, who, &ready).await?;
    let mut fresh = Vec::with_capacity(ready.len());
    let mut posted = Vec::new();
    let mut embedded = Vec::new();
    for (at, one) in ready.iter().enumerate() {
        let place = places.iter().find(|(id, _)| *id == one.stored.id).map(|(_, place)| *place);
        fresh.push(place.is_some());
        if let (Some(place), LifeStatus::Active) = (place, one.stored.status) {
            owner.count(one.stored.tier, 1, one.length);
            posted.push((one, place));
            embedded.push((at, one.stored.tier, place));
        }
    }
    post(&tx, who, &posted).await?;
    made.store(store, &tx, who, &embedded).await?;
    let mut touched = Vec::new();
    // What was there already superseded when it came.
    for (one, _) in ready.iter().zip(&fresh).filter(|(_, fresh)| **fresh) {
        touched.push(Touched { before: None, after: one.stored.clone() });
        for old in &one.stored.supersedes {
            touched.extend(supersede(store, &tx, who, &mut owner, old, one.stored).await?);
        }
        for old in others_in_slot(&tx, who, one.stored).await? {
            touched.extend(supersede(store, &tx, who, &mut owner, &old, one.stored).await?);
        }
    }
    append_kept(&tx, who, &mut owner, events, &touched, mark).await?;
    tx.commit().await?;
    Ok(Receipt { fresh, head: owner.head })
}

/// A memory with what its row needs.
struct Ready<'s> {
    stored: &'s Stored,
    terms: Vec<(String, f32)>,
    length: i32,
}

impl<'s> Ready<'s> {
    fn new(stored: &'s Stored) -> Ready<'s> {
        let (terms, length) = indexed_terms(stored);
        let length = i32::try_from(length).unwrap_or(i32::MAX);
        Ready { stored, terms, length }
    }
}

impl Owner {
    fn count(&mut self, tier: Tier, memories: i64, words: i32) {
        let words = i64::from(words) * memories;
        if tier == Tier::Episodic {
            self.episodes += memories;
            self.episode_words += words;
        } else {
            self.facts += memories;
            self.fact_words += words;
        }
    }
}

fn detail(stored: &Stored) -> Value {
    serde_json::to_value(Stored { content: String::new(), ..stored.clone() }).unwrap_or_default()
}

async fn insert(tx: &Session, who: &UserContext, ready: &[Ready<'_>]) -> Result<Vec<(String, i64)>> {
    let of = |f: fn(&Stored) -> String| -> Vec<String> { ready.iter().map(|one| f(one.stored)).collect() };
    let (ids, tiers) = (of(|s| s.id.clone()), of(|s| s.tier.name().to_owned()));
    let (status, contents) = (of(|s| s.status.name().to_owned()), of(|s| s.content.clone()));
    let sessions: Vec<Option<String>> = ready.iter().map(|one| one.stored.listed_under()).collect();
    let slots: Vec<Option<String>> = ready.iter().map(|one| one.stored.slot()).collect();
    let occurred: Vec<i64> = ready.iter().map(|one| one.stored.occurred_at.as_second()).collect();
    let expires: Vec<Option<i64>> =
        ready.iter().map(|one| one.stored.expires_at.map(Timestamp::as_second)).collect();
    let lengths: Vec<i32> = ready.iter().map(|one| one.length).collect();
    let details: Vec<Value> = ready.iter().map(|one| detail(one.stored)).collect();
    let rows = tx
        .query(
            statements::INSERT,
            &[
                text(&who.user()),
                texts(&ids),
                texts(&tiers),
                texts(&status),
                texts(&sessions),
                texts(&slots),
                bigints(&occurred),
                bigints(&expires),
                ints(&lengths),
                texts(&contents),
                jsonbs(&details),
            ],
        )
        .await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

async fn post(tx: &Session, who: &UserContext, posted: &[(&Ready<'_>, i64)]) -> Result<()> {
    let (mut tiers, mut terms, mut places, mut counts, mut lengths) =
        (vec![], vec![], vec![], vec![], vec![]);
    for (one, place) in posted {
        for (term, count) in &one.terms {
            tiers.push(one.stored.tier.name());
            terms.push(term.as_str());
            places.push(*place);
            counts.push(*count);
            lengths.push(one.length);
        }
    }
    if terms.is_empty() {
        return Ok(());
    }
    let user = who.user();
    let values =
        [text(&user), texts(&tiers), texts(&terms), bigints(&places), reals(&counts), ints(&lengths)];
    tx.run(statements::POST, &values).await
}

async fn supersede(
    store: &PgStore,
    tx: &Session,
    who: &UserContext,
    owner: &mut Owner,
    old: &str,
    by: &Stored,
) -> Result<Option<Touched>> {
    let Some(before) = one(tx, who, old).await? else { return Ok(None) };
    let after = Stored {
        status: LifeStatus::Superseded,
        superseded_by: Some(by.id.clone()),
        updated_at: by.created_at,
        ..before.clone()
    };
    update(store, tx, who, owner, &before, &after).await?;
    Ok(Some(Touched { before: Some(before), after }))
}

/// Writes a row's changed columns. What goes out of use loses keywords and vector, what comes back gets them again.
pub(crate) async fn update(
    store: &PgStore,
    tx: &Session,
    who: &UserContext,
    owner: &mut Owner,
    before: &Stored,
    after: &Stored,
) -> Result<()> {
    let active = after.status == LifeStatus::Active;
    let expires = after.expires_at.map(Timestamp::as_second);
    let (status, detail) = (after.status.name(), detail(after));
    let row = tx
        .one(
            "update heirloom.memory set status = $3, expires_at = $4, detail = $5 where user_id = $1 and id = $2 returning place, length",
            &[text(&who.user()), text(&after.id), text(&status), bigint(&expires), jsonb(&detail)],
        )
        .await?;
    let gone = || Fault::new(Code::Internal, "a row that was just read is not there");
    let row = row.ok_or_else(gone)?;
    // The totals lose and get what the row says, whichever version counted its words.
    let (place, length): (i64, i32) = (row.get(0), row.get(1));
    match (before.status == LifeStatus::Active, active) {
        (true, false) => {
            let places = vec![place];
            tx.run("select heirloom.drop_index($1, $2)", &[text(&who.user()), bigints(&places)]).await?;
            owner.count(after.tier, -1, length);
        }
        (false, true) => {
            let ready = Ready { length, ..Ready::new(after) };
            post(tx, who, &[(&ready, place)]).await?;
            let made = Vectors::of(store, &[after]);
            made.store(store, tx, who, &[(0, after.tier, place)]).await?;
            owner.count(after.tier, 1, length);
        }
        _ => {}
    }
    Ok(())
}

pub(crate) async fn change(
    store: &PgStore,
    who: &UserContext,
    id: &str,
    change: &Change,
    event: &Event,
    mark: &Mark,
) -> Result<Option<Head>> {
    let tx = Session::begin(store, who, true).await?;
    let mut owner = lock(&tx, who).await?;
    let Some(before) = one(&tx, who, id).await? else {
        tx.commit().await?;
        return Ok(None);
    };
    let mut after = before.clone();
    match change {
        Change::Confidence(confidence) => after.confidence = *confidence,
        Change::ExpiresAt(at) => after.expires_at = Some(*at),
        Change::Status(status) => after.status = *status,
    }
    after.updated_at = event.at;
    update(store, &tx, who, &mut owner, &before, &after).await?;
    let touched = [Touched { before: Some(before), after }];
    append_kept(&tx, who, &mut owner, std::slice::from_ref(event), &touched, Some(mark)).await?;
    tx.commit().await?;
    Ok(Some(owner.head))
}

pub(crate) async fn delete(
    store: &PgStore,
    who: &UserContext,
    which: &Which,
    told: Told<'_>,
) -> Result<Removed> {
    let tx = Session::begin(store, who, true).await?;
    let mut owner = lock(&tx, who).await?;
    let gone = "returning id, place, tier, status, length";
    let user = who.user();
    let rows = match which {
        Which::Ids(ids) => {
            let drop = format!("delete from heirloom.memory where user_id = $1 and id = any($2) {gone}");
            tx.query(&drop, &[text(&user), texts(ids)]).await?
        }
        Which::Tier(None) => {
            tx.query(&format!("delete from heirloom.memory where user_id = $1 {gone}"), &[text(&user)])
                .await?
        }
        Which::Tier(Some(tier)) => {
            let drop = format!("delete from heirloom.memory where user_id = $1 and tier = $2 {gone}");
            tx.query(&drop, &[text(&user), text(&tier.name())]).await?
        }
        Which::Expired(now) => {
            let drop = format!("delete from heirloom.memory where user_id = $1 and expires_at < $2 {gone}");
            let now = now.as_second();
            tx.query(&drop, &[text(&user), bigint(&now)]).await?
        }
    };
    if let Which::Tier(tier) = which {
        drop_tier(&tx, who, *tier).await?;
    }
    if rows.is_empty() {
        tx.commit().await?;
        return Ok(Removed::default());
    }
    let ids: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let places: Vec<i64> = rows.iter().map(|row| row.get(1)).collect();
    for row in &rows {
        if LifeStatus::named(row.get(3)) == Some(LifeStatus::Active) {
            owner.count(Tier::named(row.get(2)).unwrap_or(Tier::Semantic), -1, row.get(4));
        }
    }
    tx.run("select heirloom.drop_traces($1, $2, $3)", &[text(&user), texts(&ids), bigints(&places)]).await?;
    append(&tx, who, &mut owner, &told(&ids)).await?;
    tx.commit().await?;
    Ok(Removed { ids, head: Some(owner.head) })
}
