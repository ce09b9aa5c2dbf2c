//! Roles, tables, functions and policies, as text: what `team init` and `team upgrade` run, and what `--print-sql` prints.
//!
//! Comes in: where pgvector lies, and whether Citus distributes the tables. Goes out: statements. The user of a transaction is found by one
//! function, `heirloom.me`, and this is the one place that says how policies call it. Never here: a connection, or a value from outside in a
//! statement that was not quoted.

/// The schema that this program works with. Versions 1 to 3 are those of 0.1, whose tables belonged to the application.
pub(crate) const VERSION: i32 = 6;

/// The first version whose tables stay where they are: what came later is added by a step.
pub(crate) const STEPS_FROM: i32 = 4;

/// The advisory lock of migrations: any number that nobody else is likely to use.
pub(crate) const LOCK: i64 = 0x4845_4952_4c4f_4f4d;

/// Tables that hold rows of users.
pub const OF_USERS: [&str; 9] =
    ["memory", "post", "vector", "gone", "audit", "owner", "undo", "draft", "once"];

/// Those of them that version 5 added.
const OF_STEP_5: [&str; 1] = ["once"];

/// Where and how the schema is made.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The schema that holds pgvector's types, quoted.
    pub(crate) vector: String,
    /// Whether Citus distributes the tables.
    pub(crate) citus: bool,
}

impl Place {
    fn filled(&self, text: &str) -> String {
        text.replace("{version}", &VERSION.to_string())
            .replace("{halfvec}", &format!("{}.halfvec", self.vector))
            .replace("{vector}", &self.vector)
    }

    /// Roles. Run as a login that may make them.
    pub(crate) fn roles() -> &'static str {
        include_str!("schema/roles.sql")
    }

    /// The schema and its tables. From here on statements run as `heirloom_owner`.
    pub(crate) fn tables(&self) -> String {
        let steps = [
            include_str!("schema/tables.sql"),
            include_str!("schema/step_5.sql"),
            include_str!("schema/step_6.sql"),
        ];
        self.filled(&steps.concat())
    }

    /// From version 4 or a later one to this one: new tables and columns, and every function as it is now. Run as a login that may act as `heirloom_owner`.
    pub(crate) fn step(&self, before: i32) -> String {
        let mut text = "set local role heirloom_owner;\n".to_owned();
        if before < 5 {
            text.push_str(include_str!("schema/step_5.sql"));
            text.push_str(&self.policies_of(&OF_STEP_5));
        }
        text.push_str(include_str!("schema/step_6.sql"));
        // Vectors that were made without word pieces are made anew by whoever uses that model next.
        text.push_str("delete from heirloom.vector where model like 'all-minilm%';\n");
        text.push_str(&self.functions());
        text.push_str(&format!("update heirloom.version set version = {VERSION};\nreset role;\n"));
        if self.citus {
            text.push_str("set local citus.propagate_set_commands = 'local';\n");
            if before < 5 {
                text.push_str(&distributed(&OF_STEP_5));
            }
            text.push_str(NESTED);
        }
        text
    }

    /// Keys and indexes that are quicker to make over rows that are there.
    pub(crate) fn indexes() -> &'static str {
        include_str!("schema/indexes.sql")
    }

    /// Functions and who may call them.
    pub(crate) fn functions(&self) -> String {
        self.filled(include_str!("schema/functions.sql"))
    }

    /// The user of the transaction, if its token has one of these scopes.
    fn me(&self, scopes: &str) -> String {
        // In a sub-select the function runs once for a statement. Citus refuses a sub-select in a policy; there it runs as the planner likes.
        if self.citus {
            format!("heirloom.me('{{{scopes}}}')")
        } else {
            format!("(select heirloom.me('{{{scopes}}}'))")
        }
    }

    /// Row-level security: enabled and forced on every table of users, a policy for each command, everything for the functions' owner.
    pub(crate) fn policies(&self) -> String {
        self.policies_of(&OF_USERS)
    }

    fn policies_of(&self, tables: &[&str]) -> String {
        let seen = format!("user_id = {}", self.me("read,write,delete"));
        let written = format!("user_id = {}", self.me("write"));
        let upkeep = format!("user_id = {}", self.me("upkeep"));
        let any = format!("user_id = {}", self.me("read,write,delete,facts,admin,upkeep"));
        let delete = format!("user_id = {}", self.me("delete"));
        let dropped = format!("user_id = {}", self.me("write,delete"));
        // The daily work sees only what its work is: what is past its time.
        let expired = format!("(expires_at < extract(epoch from now()) and {upkeep})");
        let stale = format!("(at < extract(epoch from now()) - 2592000 and {upkeep})");
        let rules: [(&str, &str, String); 22] = [
            ("memory", "select", format!("{seen} or {expired}")),
            ("memory", "insert", written.clone()),
            ("memory", "update", written.clone()),
            ("memory", "delete", format!("{delete} or {expired}")),
            ("post", "select", seen.clone()),
            ("post", "insert", written.clone()),
            ("vector", "select", seen.clone()),
            ("vector", "insert", written.clone()),
            ("gone", "select", seen.clone()),
            ("gone", "delete", written.clone()),
            ("undo", "select", seen.clone()),
            ("undo", "insert", written.clone()),
            ("undo", "delete", dropped.clone()),
            ("draft", "select", format!("{seen} or {stale}")),
            ("draft", "insert", written),
            ("draft", "delete", format!("{dropped} or {stale}")),
            ("owner", "select", any.clone()),
            ("once", "select", any.clone()),
            ("once", "insert", any.clone()),
            ("once", "update", any.clone()),
            ("once", "delete", any.clone()),
            ("audit", "select", any),
        ];
        let mut text = String::new();
        for table in tables {
            text.push_str(&format!(
                "alter table heirloom.{table} enable row level security;\n\
                 alter table heirloom.{table} force row level security;\n\
                 create policy functions on heirloom.{table} to heirloom_owner using (true) with check (true);\n"
            ));
        }
        for (table, command, rule) in rules.iter().filter(|(table, ..)| tables.contains(table)) {
            let clause = match *command {
                "insert" => format!("with check ({rule})"),
                "update" => format!("using ({rule}) with check ({rule})"),
                _ => format!("using ({rule})"),
            };
            text.push_str(&format!(
                "create policy app_{command} on heirloom.{table} for {command} to heirloom_app {clause};\n\
                 grant {command} on heirloom.{table} to heirloom_app;\n"
            ));
        }
        text
    }

    /// What Citus needs: run as the login that owns the database.
    pub(crate) fn citus(database: &str) -> String {
        let mut text = format!(
            "alter database {database} set citus.propagate_set_commands = 'local';\n\
             set local citus.propagate_set_commands = 'local';\n\
             -- Citus connects to workers as the owner of a function that writes; let pg_hba.conf admit it from the nodes only.\n\
             alter role heirloom_owner login;\n\
             select create_reference_table('heirloom.version');\n\
             select create_reference_table('heirloom.model');\n\
             select create_reference_table('heirloom.account');\n\
             select create_reference_table('heirloom.token');\n\
             select create_distributed_table('heirloom.memory', 'user_id', shard_count => 32);\n"
        );
        let others: Vec<&str> = OF_USERS.into_iter().filter(|table| *table != "memory").collect();
        text.push_str(&distributed(&others));
        text.push_str(NESTED);
        text
    }

    /// The rows of a 0.1 schema, which was renamed to `heirloom_before`, in the new tables. `found` is its version.
    pub(crate) fn copied(found: i32, now: &str) -> String {
        let mut text = include_str!("schema/copy.sql").replace("{now}", &quoted(now));
        if found >= 2 {
            text.push_str(
                "insert into heirloom.token select hash, user_id, name, string_to_array(scopes, ','), added_at, expires_at::timestamptz\n    \
                 from heirloom_before.token;\n",
            );
        }
        text.push_str(
            "insert into heirloom.token select token_hash, user_id, '', '{read,write}', added_at, null from heirloom_before.account\n    \
             where token_hash is not null on conflict do nothing;\n",
        );
        if found >= 3 {
            text.push_str(
                "insert into heirloom.undo select user_id, seq, n, at, id, body from heirloom_before.undo;\n\
                 insert into heirloom.token_use select hash, hour from heirloom_before.token_use;\n",
            );
        }
        text
    }
}

/// What lets policies call the one function on workers.
const NESTED: &str =
    "alter function heirloom.me(text[]) set citus.allow_nested_distributed_execution = on;\n";

/// Tables beside the memories they belong to.
fn distributed(tables: &[&str]) -> String {
    let one = |table: &&str| {
        format!(
            "select create_distributed_table('heirloom.{table}', 'user_id', colocate_with => 'heirloom.memory');\n"
        )
    };
    tables.iter().map(one).collect()
}

/// A text as a literal.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A name as an identifier.
pub(crate) fn named(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_call_the_one_function_as_the_engine_allows() {
        let place = |citus| Place { vector: "public".to_owned(), citus };
        assert!(place(false).policies().contains("(select heirloom.me('{write}'))"));
        let citus = place(true).policies();
        assert!(citus.contains("heirloom.me('{write}')") && !citus.contains("(select heirloom.me"));
        for table in OF_USERS {
            assert!(citus.contains(&format!("alter table heirloom.{table} force row level security")));
        }
    }
}
