-- The hash a token is kept by, as version 0.1 made it.
create or replace function heirloom.hash_of(given text) returns text language sql immutable strict set search_path = pg_catalog, pg_temp as
$$ select encode(sha256('\x686569726c6f6f6d20746f6b656e00'::bytea || convert_to(given, 'UTF8')), 'hex') $$;

-- The token of this transaction, if it counts.
create or replace function heirloom.held() returns setof heirloom.token
language sql stable security definer set search_path = pg_catalog, pg_temp rows 1 as
$$ select t.* from heirloom.token t
   where t.hash = heirloom.hash_of(nullif(current_setting('heirloom.token', true), '')) and (t.expires_at is null or t.expires_at > now()) $$;

-- The user this transaction acts as, if its token has one of the scopes that are needed. Whoever looks after users acts for others, and the daily
-- work does where `upkeep` is among the scopes that are enough.
create or replace function heirloom.me(needs text[]) returns text
language sql stable security definer set search_path = pg_catalog, pg_temp as
$$ select case
       when coalesce(nullif(current_setting('heirloom.acting', true), ''), t.user_id) = t.user_id
           then case when t.scopes && needs then t.user_id end
       when 'admin' = any (t.scopes) or ('upkeep' = any (needs) and 'upkeep' = any (t.scopes))
           then current_setting('heirloom.acting', true)
   end
   from heirloom.token t
   where t.hash = heirloom.hash_of(nullif(current_setting('heirloom.token', true), '')) and (t.expires_at is null or t.expires_at > now()) $$;

create or replace function heirloom.whose(given text, this_hour text)
returns table (version integer, hash text, user_id text, name text, scopes text, added_at text, expires_at text, hour text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare wanted text := heirloom.hash_of(given);
begin
    if not pg_is_in_recovery()
        and exists (select from heirloom.token t where t.hash = wanted and (t.expires_at is null or t.expires_at > now()))
        and not exists (select from heirloom.token_use u where u.hash = wanted and u.hour = this_hour)
    then
        begin
            insert into heirloom.token_use as u values (wanted, this_hour) on conflict (hash) do update set hour = excluded.hour;
        exception when read_only_sql_transaction then null;
        end;
    end if;
    return query select {version}, t.hash, t.user_id, t.name, array_to_string(t.scopes, ','), t.added_at,
            to_char(t.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), u.hour
        from (select) as always left join heirloom.token t on t.hash = wanted left join heirloom.token_use u on u.hash = t.hash;
end $$;

-- What every transaction begins with. The token comes as a parameter, so that no statement shows it; `set local` is what Citus hands on to workers.
create or replace function heirloom.begin(given text, acting text, durable boolean, longest text) returns void language plpgsql as $$
begin
    execute pg_catalog.format('set local heirloom.token = %L', given);
    execute pg_catalog.format('set local heirloom.acting = %L', acting);
    execute pg_catalog.format('set local statement_timeout = %L', longest);
    if durable then set local synchronous_commit = on; else set local synchronous_commit = off; end if;
    set local search_path = pg_catalog, {vector}, pg_temp;
end $$;

create or replace function heirloom.refuse(what text) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    raise exception '%', what using errcode = '42501';
end $$;

-- The user's row of totals and the end of the user's chain, locked until the transaction ends.
create or replace function heirloom.lock_chain(of_user text)
returns table (episodes bigint, facts bigint, episode_words bigint, fact_words bigint, seq bigint, hash text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    if heirloom.me('{read,write,delete,facts,admin,upkeep}') is distinct from of_user then
        perform heirloom.refuse('this token opens no audit of that user');
    end if;
    return query select o.episodes, o.facts, o.episode_words, o.fact_words, o.seq, o.hash
        from heirloom.owner o where o.user_id = of_user for update;
    if not found then
        insert into heirloom.owner (user_id) values (of_user) on conflict do nothing;
        return query select o.episodes, o.facts, o.episode_words, o.fact_words, o.seq, o.hash
            from heirloom.owner o where o.user_id = of_user for update;
    end if;
end $$;

-- The only way to a line of an audit: each one follows the line before and has the hash of what it says.
create or replace function heirloom.append(of_user text, seqs bigint[], ats text[], actions text[], facts_of text[], prevs text[], hashes text[], totals bigint[])
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    head heirloom.owner;
    n integer;
begin
    if heirloom.me('{read,write,delete,facts,admin,upkeep}') is distinct from of_user then
        perform heirloom.refuse('this token opens no audit of that user');
    end if;
    select * into head from heirloom.owner o where o.user_id = of_user for update;
    for n in 1 .. coalesce(array_length(seqs, 1), 0) loop
        if seqs[n] <> head.seq + 1 or prevs[n] <> head.hash or hashes[n] <> encode(sha256(convert_to(
                concat_ws(E'\n', seqs[n]::text, ats[n], of_user, actions[n], facts_of[n], prevs[n]), 'UTF8')), 'hex') then
            perform heirloom.refuse('this line does not follow the audit');
        end if;
        head.seq := seqs[n];
        head.hash := hashes[n];
    end loop;
    insert into heirloom.audit (user_id, seq, at, action, metadata, prev, hash)
        select of_user, l.seq, l.at, l.action, l.metadata, l.prev, l.hash
        from unnest(seqs, ats, actions, facts_of, prevs, hashes) as l (seq, at, action, metadata, prev, hash) on conflict do nothing;
    if heirloom.me('{write,delete,admin,upkeep}') = of_user and totals is not null then
        update heirloom.owner o set seq = head.seq, hash = head.hash, episodes = totals[1], facts = totals[2],
            episode_words = totals[3], fact_words = totals[4] where o.user_id = of_user;
    else
        update heirloom.owner o set seq = head.seq, hash = head.hash where o.user_id = of_user;
    end if;
end $$;

-- Drops the lines that the last line of the chain, a checkpoint, speaks of.
create or replace function heirloom.drop_lines(of_user text, through bigint) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    if heirloom.me('{delete,admin,upkeep}') is distinct from of_user then
        perform heirloom.refuse('this token shortens no audit of that user');
    end if;
    if not exists (select from heirloom.owner o join heirloom.audit a on a.user_id = o.user_id and a.seq = o.seq
            where o.user_id = of_user and a.action = 'audit_checkpoint' and (a.metadata::jsonb ->> 'through')::bigint = through) then
        perform heirloom.refuse('no checkpoint speaks of these lines');
    end if;
    delete from heirloom.audit a where a.user_id = of_user and a.seq <= through;
end $$;

-- Keywords and vectors of memories that are out of use or gone.
create or replace function heirloom.drop_index(of_user text, places bigint[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    if heirloom.me('{write,delete,upkeep}') is distinct from of_user then
        perform heirloom.refuse('this token changes nothing of that user');
    end if;
    if exists (select from heirloom.memory m where m.user_id = of_user and m.place = any (places) and m.status = 'active') then
        perform heirloom.refuse('a memory in use keeps its index');
    end if;
    delete from heirloom.post p where p.user_id = of_user and p.place = any (places);
    delete from heirloom.vector v where v.user_id = of_user and v.place = any (places);
end $$;

-- What goes with memories that were deleted, and the note that they were.
create or replace function heirloom.drop_traces(of_user text, ids text[], places bigint[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    if heirloom.me('{delete,upkeep}') is distinct from of_user then
        perform heirloom.refuse('this token removes nothing of that user');
    end if;
    if exists (select from heirloom.memory m where m.user_id = of_user and m.id = any (ids)) then
        perform heirloom.refuse('a memory that is there keeps what belongs to it');
    end if;
    perform heirloom.drop_index(of_user, places);
    delete from heirloom.undo u where u.user_id = of_user and u.id = any (ids);
    insert into heirloom.gone (user_id, id) select of_user, id from unnest(ids) as g (id) on conflict do nothing;
end $$;

create or replace function heirloom.know_model(named text, dims integer) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    if heirloom.me('{write,admin}') is null then
        perform heirloom.refuse('this token writes nothing');
    end if;
    insert into heirloom.model values (named, dims) on conflict do nothing;
end $$;

-- Users and tokens: everything for a token with the scope `admin`, one's own for everybody else.
create or replace function heirloom.accounts() returns table (user_id text, added_at text)
language sql stable security definer set search_path = pg_catalog, pg_temp as
$$ select a.user_id, a.added_at from heirloom.account a, heirloom.held() h where 'admin' = any (h.scopes) or a.user_id = h.user_id order by 1 $$;

create or replace function heirloom.users() returns table (user_id text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare mine heirloom.token;
begin
    select * into mine from heirloom.held();
    if mine.scopes && '{admin,upkeep}' then
        return query select a.user_id from heirloom.account a union select o.user_id from heirloom.owner o order by 1;
    elsif mine.hash is not null then
        return query select mine.user_id;
    end if;
end $$;

create or replace function heirloom.tokens(of_user text)
returns table (hash text, user_id text, name text, scopes text, added_at text, expires_at text, hour text)
language sql stable security definer set search_path = pg_catalog, pg_temp as
$$ select t.hash, t.user_id, t.name, array_to_string(t.scopes, ','), t.added_at,
       to_char(t.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), u.hour
   from heirloom.held() h join heirloom.token t on 'admin' = any (h.scopes) or t.user_id = h.user_id
   left join heirloom.token_use u on u.hash = t.hash
   where of_user is null or t.user_id = of_user order by t.user_id, t.name $$;

create or replace function heirloom.administers() returns heirloom.token
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare mine heirloom.token;
begin
    select * into mine from heirloom.held();
    if mine.hash is null or not 'admin' = any (mine.scopes) then
        perform heirloom.refuse('this needs a token with the scope `admin`');
    end if;
    return mine;
end $$;

create or replace function heirloom.put_account(of_user text, at text, token_hash text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform heirloom.administers();
    insert into heirloom.account values (of_user, at) on conflict (user_id) do update set added_at = excluded.added_at;
    if token_hash is not null then
        delete from heirloom.token t where t.user_id = of_user and t.name = '';
        insert into heirloom.token values (token_hash, of_user, '', '{read,write}', at, null);
    end if;
end $$;

create or replace function heirloom.put_token(hashed text, of_user text, named text, may text[], at text, ends text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    mine heirloom.token := heirloom.administers();
    old text[];
begin
    if not may <@ mine.scopes then
        perform heirloom.refuse('a token hands on no scope that it does not have');
    end if;
    if not exists (select from heirloom.account a where a.user_id = of_user) then
        perform heirloom.refuse('there is no such user');
    end if;
    -- In two steps: Citus plans no change of a local table that looks into a reference table.
    old := array(select t.hash from heirloom.token t where t.user_id = of_user and t.name = named);
    delete from heirloom.token_use u where u.hash = any (old);
    delete from heirloom.token t where t.user_id = of_user and t.name = named;
    insert into heirloom.token values (hashed, of_user, named, may, at, ends::timestamptz);
end $$;

create or replace function heirloom.remove_token(of_user text, named text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    mine heirloom.token := heirloom.administers();
    theirs heirloom.token;
begin
    select * into theirs from heirloom.token t where t.user_id = of_user and t.name = named;
    if theirs.hash is null then
        return false;
    end if;
    if not theirs.scopes <@ mine.scopes then
        perform heirloom.refuse('this token may less than the one it would revoke');
    end if;
    delete from heirloom.token_use u where u.hash = theirs.hash;
    delete from heirloom.token t where t.hash = theirs.hash;
    return true;
end $$;

-- Invitations: an administrator makes the link, the holder of the user's own token sets a PIN by it, once.
create or replace function heirloom.put_invite(hashed text, of_user text, at text, ends text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform heirloom.administers();
    if not exists (select from heirloom.account a where a.user_id = of_user) then
        perform heirloom.refuse('there is no such user');
    end if;
    if ends::timestamptz > now() + interval '8 days' then
        perform heirloom.refuse('an invitation lasts a week at most');
    end if;
    delete from heirloom.invite i where i.user_id = of_user;
    insert into heirloom.invite values (hashed, of_user, at, ends::timestamptz);
end $$;

-- What is kept of a PIN: a hash of its Argon2id hash, so that what lies here is nothing anybody could show.
create or replace function heirloom.kept_of(digest text) returns text
language sql immutable strict set search_path = pg_catalog, pg_temp as
$$ select encode(sha256(convert_to('heirloom pin ' || digest, 'UTF8')), 'hex') $$;

create or replace function heirloom.take_invite(hashed text, salted text, memory integer, rounds integer, digest text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    mine heirloom.token;
    found_one heirloom.invite;
begin
    select * into mine from heirloom.held();
    if mine.hash is null then
        perform heirloom.refuse('this needs a token');
    end if;
    select * into found_one from heirloom.invite i where i.hash = hashed for update;
    if found_one.hash is null then
        return 'unknown';
    elsif found_one.user_id <> mine.user_id then
        return 'foreign';
    elsif found_one.expires_at <= now() then
        return 'ended';
    end if;
    delete from heirloom.invite i where i.hash = hashed;
    delete from heirloom.pin p where p.user_id = mine.user_id;
    insert into heirloom.pin values (mine.user_id, salted, memory, rounds, heirloom.kept_of(digest), 0, null);
    return 'set';
end $$;

-- What a PIN that is typed is hashed with: for the holder of a token, their own.
create or replace function heirloom.my_salt() returns table (salt text, memory_kib integer, passes integer)
language sql stable security definer set search_path = pg_catalog, pg_temp as
$$ select p.salt, p.memory_kib, p.passes from heirloom.held() h join heirloom.pin p on p.user_id = h.user_id $$;

-- A try. After five wrong ones there is a pause of five minutes, after each five more one twice as long, up to a day.
create or replace function heirloom.try_pin(digest text) returns table (outcome text, tries integer, until text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    mine heirloom.token;
    kept heirloom.pin;
begin
    select * into mine from heirloom.held();
    if mine.hash is null then
        perform heirloom.refuse('this needs a token');
    end if;
    select * into kept from heirloom.pin p where p.user_id = mine.user_id for update;
    if kept.user_id is null then
        return query select 'none', 0, null::text;
        return;
    end if;
    if kept.paused_until is null or kept.paused_until <= now() then
        if kept.kept = heirloom.kept_of(digest) then
            update heirloom.pin p set wrong = 0, paused_until = null where p.user_id = mine.user_id;
            return query select 'right', 0, null::text;
            return;
        end if;
        kept.wrong := kept.wrong + 1;
        kept.paused_until := case when kept.wrong % 5 = 0
            then now() + interval '1 minute' * least(5 * power(2, least(kept.wrong / 5 - 1, 20)), 1440) end;
        update heirloom.pin p set wrong = kept.wrong, paused_until = kept.paused_until where p.user_id = mine.user_id;
        if kept.wrong % 5 <> 0 then
            return query select 'wrong', 5 - kept.wrong % 5, null::text;
            return;
        end if;
    end if;
    return query select 'paused', 0, to_char(kept.paused_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
end $$;

-- A user with all that is theirs. The tokens go first, so that nobody comes in any more.
create or replace function heirloom.remove_user(of_user text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    mine heirloom.token := heirloom.administers();
    old text[];
begin
    if exists (select from heirloom.token t where t.user_id = of_user and not t.scopes <@ mine.scopes) then
        perform heirloom.refuse('this token may less than those of the user it would remove');
    end if;
    old := array(select t.hash from heirloom.token t where t.user_id = of_user);
    delete from heirloom.token_use u where u.hash = any (old);
    delete from heirloom.token t where t.user_id = of_user;
    delete from heirloom.memory m where m.user_id = of_user;
    delete from heirloom.post p where p.user_id = of_user;
    delete from heirloom.vector v where v.user_id = of_user;
    delete from heirloom.gone g where g.user_id = of_user;
    delete from heirloom.undo u where u.user_id = of_user;
    delete from heirloom.draft d where d.user_id = of_user;
    delete from heirloom.once o where o.user_id = of_user;
    delete from heirloom.invite i where i.user_id = of_user;
    delete from heirloom.pin p where p.user_id = of_user;
    delete from heirloom.audit a where a.user_id = of_user;
    delete from heirloom.owner o where o.user_id = of_user;
    delete from heirloom.account a where a.user_id = of_user;
end $$;

revoke all on all functions in schema heirloom from public;
grant execute on function heirloom.hash_of(text), heirloom.me(text[]), heirloom.whose(text, text), heirloom.begin(text, text, boolean, text),
    heirloom.refuse(text), heirloom.lock_chain(text),
    heirloom.append(text, bigint[], text[], text[], text[], text[], text[], bigint[]), heirloom.drop_lines(text, bigint),
    heirloom.drop_index(text, bigint[]), heirloom.drop_traces(text, text[], bigint[]), heirloom.know_model(text, integer),
    heirloom.accounts(), heirloom.users(), heirloom.tokens(text), heirloom.put_account(text, text, text),
    heirloom.put_token(text, text, text, text[], text, text), heirloom.remove_token(text, text), heirloom.remove_user(text),
    heirloom.put_invite(text, text, text, text), heirloom.take_invite(text, text, integer, integer, text), heirloom.my_salt(),
    heirloom.try_pin(text)
    to heirloom_app;
grant select on heirloom.version, heirloom.model to heirloom_app, heirloom_admin;
