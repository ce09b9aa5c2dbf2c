insert into heirloom.memory (user_id, place, id, tier, status, session, slot, occurred_at, expires_at, length, content, detail)
    select user_id, place, id, tier, status, session, slot, occurred_at, expires_at, length, content, detail from heirloom_before.memory;
select setval(pg_get_serial_sequence('heirloom.memory', 'place'), (select coalesce(max(place), 0) + 1 from heirloom.memory), false);
insert into heirloom.model select name, 256 from heirloom_before.model;
insert into heirloom.vector (user_id, model, place, tier, embedding)
    select user_id, (select name from heirloom_before.model), place, tier, embedding from heirloom_before.memory where embedding is not null;
insert into heirloom.post select user_id, tier, term, place, count, length from heirloom_before.post;
insert into heirloom.gone select user_id, id from heirloom_before.gone;
insert into heirloom.audit select user_id, seq, at, action, metadata, prev, hash from heirloom_before.audit;
insert into heirloom.owner select user_id, episodes, facts, episode_words, fact_words, seq, hash from heirloom_before.owner;
insert into heirloom.account select user_id, added_at from heirloom_before.account;
-- Whoever has rows has an account from now on; a token they get from an administrator.
insert into heirloom.account
    select user_id, {now} from (select user_id from heirloom_before.owner union select user_id from heirloom_before.memory) u
    where user_id <> 'system' on conflict do nothing;
