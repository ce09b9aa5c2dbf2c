//! Parameters with their types, so that a statement needs no preparing: a pooler that hands connections around keeps no prepared statements.
//!
//! Comes in: values. Goes out: the same beside the type the server is told. Never here: a value inside a statement.

use tokio_postgres::types::{ToSql, Type};

/// A parameter.
pub(crate) type Value<'v> = (&'v (dyn ToSql + Sync), Type);

macro_rules! values {
    ($($name:ident $kind:ident;)*) => {$(
        pub(crate) fn $name<'v>(value: &'v (dyn ToSql + Sync)) -> Value<'v> {
            (value, Type::$kind)
        }
    )*};
}

values! {
    text TEXT;
    texts TEXT_ARRAY;
    bigint INT8;
    bigints INT8_ARRAY;
    int INT4;
    ints INT4_ARRAY;
    reals FLOAT4_ARRAY;
    double FLOAT8;
    doubles FLOAT8_ARRAY;
    jsonb JSONB;
    jsonbs JSONB_ARRAY;
    boolean BOOL;
    bytes BYTEA_ARRAY;
}
