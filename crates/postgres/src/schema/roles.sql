-- Roles belong to the whole server, so each is made only where it is missing.
do $$
begin
    if not exists (select from pg_roles where rolname = 'heirloom_owner') then
        create role heirloom_owner nologin nosuperuser nobypassrls nocreatedb nocreaterole;
    end if;
    if not exists (select from pg_roles where rolname = 'heirloom_app') then
        create role heirloom_app login nosuperuser nobypassrls nocreatedb nocreaterole;
    end if;
    if not exists (select from pg_roles where rolname = 'heirloom_admin') then
        -- Operators get this role. It inherits nothing: they see a row only after `set role heirloom_owner`, which shows in a log.
        create role heirloom_admin nologin noinherit nosuperuser nobypassrls nocreatedb nocreaterole;
    end if;
    if exists (select from pg_roles where rolname in ('heirloom_owner', 'heirloom_app', 'heirloom_admin') and (rolsuper or rolbypassrls)) then
        raise exception 'a role of Heirloom could pass row-level security' using errcode = '42501',
            hint = 'alter role … nosuperuser nobypassrls';
    end if;
    if not (select rolsuper from pg_roles where rolname = current_user) and not pg_has_role(current_user, 'heirloom_owner', 'member') then
        execute format('grant heirloom_owner to %I', current_user);
    end if;
    if not pg_has_role('heirloom_admin', 'heirloom_owner', 'member') then
        grant heirloom_owner to heirloom_admin;
    end if;
end $$;
