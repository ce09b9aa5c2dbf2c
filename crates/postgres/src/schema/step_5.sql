-- Version 5: invitations and PINs for the page of a server, and keys of requests that are carried out once.
-- Not granted to the application, and not forced: the functions run as the owner.
create table heirloom.invite (hash text primary key, user_id text not null unique, added_at text not null, expires_at timestamptz not null);
create table heirloom.pin (
    user_id text primary key, salt text not null, memory_kib integer not null, passes integer not null, kept text not null,
    wrong integer not null, paused_until timestamptz);

create table heirloom.once (
    user_id text not null, name text not null, asked text not null, at bigint not null, status integer, id text, answer text,
    primary key (user_id, name));
create index once_at on heirloom.once (user_id, at);
