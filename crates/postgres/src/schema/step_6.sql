-- Version 6: what is kept of the word pieces of a text, for models that compare word by word.
alter table heirloom.vector add column pieces bytea;
