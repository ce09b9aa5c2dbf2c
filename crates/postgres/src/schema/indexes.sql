alter table heirloom.post add primary key (user_id, tier, term, place);
create unique index memory_place on heirloom.memory (user_id, place);
create index memory_tier on heirloom.memory (user_id, tier, status, place);
create index memory_session on heirloom.memory (user_id, session, place) where session is not null;
create index memory_slot on heirloom.memory (user_id, slot) where slot is not null;
create index memory_expiry on heirloom.memory (user_id, expires_at) where expires_at is not null;
create index post_place on heirloom.post (user_id, place);
create index undo_id on heirloom.undo (user_id, id);
create index undo_at on heirloom.undo (user_id, at);
-- What is analysed is kept in the catalogue, samples of it word for word; text that may be forgotten is not.
alter table heirloom.memory alter column content set statistics 0, alter column detail set statistics 0,
    alter column session set statistics 0, alter column slot set statistics 0;
alter table heirloom.post alter column term set statistics 0;
alter table heirloom.undo alter column body set statistics 0;
alter table heirloom.draft alter column body set statistics 0;
