//! MCP over standard streams: one message a line, in and out.
//!
//! Comes in: lines. Goes out: lines. A line that is no message never ends the server, and is answered wherever the id of the request can be read; one
//! that is too long is passed over without being kept. When the client closes its side, what it asked before is still answered. Never here: which
//! streams these are; the program hands them in.

use super::{Door, Whose, roots};
use crate::desk::{Desk, Place, Visitor};
use heirloom_core::{Code, Fault, fault::Result};
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::serve_server;
use rmcp::transport::Transport;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, Semaphore, mpsc};

/// The longest line that is read; no memory is half as long.
const LINE_MAX: usize = 4 << 20;
/// How much of a line that is too long is looked at for the request's id.
const HEAD: usize = 4 << 10;
/// Lines that wait in either direction before whoever writes them waits too.
const QUEUE: usize = 64;
/// Requests that are worked on at once.
const AT_ONCE: usize = 4;

/// How the server is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// The project, if one was named.
    pub project: Option<PathBuf>,
    /// The folder it was started in, for a client that names no project either.
    pub started_in: PathBuf,
    /// The agent it works for.
    pub agent: Option<String>,
}

/// Serves one client until it closes its side.
pub fn run(
    desk: Arc<dyn Desk>,
    options: Options,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<()> {
    let io = |e: std::io::Error| Fault::new(Code::Io, format!("cannot start to serve: {e}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(io)?;
    let whose = match options.project {
        Some(folder) => Whose::Fixed(Place::Folder(folder)),
        None => Whose::Roots(roots::Roots::new(options.started_in)),
    };
    let who = Visitor { agent: options.agent, ..Visitor::default() };
    let door = Door { desk, whose, who, turns: Arc::new(Semaphore::new(AT_ONCE)) };
    let (lines, writer) = writing(output).map_err(io)?;
    let transport = Lines::over(input, lines).map_err(io)?;
    runtime.block_on(async {
        // A client that goes before it said anything is no fault of anybody's.
        if let Ok(service) = serve_server(door, transport).await {
            let _ = service.waiting().await;
        }
    });
    // Whoever still reads gets what was answered.
    drop(runtime);
    let _ = writer.join();
    Ok(())
}

type Sender = mpsc::Sender<Vec<u8>>;

/// A thread that writes lines, so that a client that does not read keeps nobody else waiting.
fn writing(
    mut output: impl Write + Send + 'static,
) -> std::io::Result<(Sender, std::thread::JoinHandle<()>)> {
    let (sender, mut lines) = mpsc::channel::<Vec<u8>>(QUEUE);
    let thread = std::thread::Builder::new().name("mcp-out".to_owned()).spawn(move || {
        while let Some(line) = lines.blocking_recv() {
            if output.write_all(&line).and_then(|()| output.flush()).is_err() {
                break;
            }
        }
    })?;
    Ok((sender, thread))
}

/// What came in on a line.
#[derive(Debug)]
enum Line {
    Message(Box<ClientJsonRpcMessage>),
    /// No message: what is said about it to each request in it that has an id.
    Bad(Vec<ServerJsonRpcMessage>),
}

/// Requests that have no answer yet.
#[derive(Debug, Default)]
struct Open {
    ids: Mutex<HashMap<String, usize>>,
    settled: Notify,
}

impl Open {
    fn begin(&self, id: &RequestId) {
        *self.ids.lock().unwrap_or_else(PoisonError::into_inner).entry(json!(id).to_string()).or_default() +=
            1;
    }

    fn end(&self, id: &RequestId) {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let key = json!(id).to_string();
        if let Some(count) = ids.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                ids.remove(&key);
            }
        }
        if ids.is_empty() {
            self.settled.notify_waiters();
        }
    }

    async fn settled(&self) {
        loop {
            let settled = self.settled.notified();
            if self.ids.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
                return;
            }
            settled.await;
        }
    }
}

/// The transport.
struct Lines {
    incoming: mpsc::Receiver<Line>,
    outgoing: Option<Sender>,
    open: Arc<Open>,
    begun: bool,
}

impl Lines {
    fn over(input: impl Read + Send + 'static, outgoing: Sender) -> std::io::Result<Lines> {
        let (sender, incoming) = mpsc::channel(QUEUE);
        // A thread of its own: a read from a stream cannot be taken back, and nobody waits for this one when the process ends.
        std::thread::Builder::new().name("mcp-in".to_owned()).spawn(move || reading(input, &sender))?;
        Ok(Lines { incoming, outgoing: Some(outgoing), open: Arc::default(), begun: false })
    }

    async fn say(&self, message: &ServerJsonRpcMessage) -> bool {
        match (&self.outgoing, written(message)) {
            (Some(outgoing), Some(line)) => outgoing.send(line).await.is_ok(),
            _ => false,
        }
    }
}

fn written(message: &ServerJsonRpcMessage) -> Option<Vec<u8>> {
    let mut line = serde_json::to_vec(message).ok()?;
    line.push(b'\n');
    Some(line)
}

impl Transport<RoleServer> for Lines {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = std::result::Result<(), Self::Error>> + Send + 'static {
        let (outgoing, open) = (self.outgoing.clone(), Arc::clone(&self.open));
        async move {
            let gone = || std::io::Error::new(std::io::ErrorKind::BrokenPipe, "the client is gone");
            let line = written(&item).ok_or_else(gone)?;
            let sent = outgoing.ok_or_else(gone)?.send(line).await.map_err(|_| gone());
            match &item {
                ServerJsonRpcMessage::Response(answer) => open.end(&answer.id),
                ServerJsonRpcMessage::Error(answer) => {
                    if let Some(id) = &answer.id {
                        open.end(id);
                    }
                }
                _ => {}
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            match self.incoming.recv().await {
                None => {
                    self.open.settled().await;
                    return None;
                }
                Some(Line::Bad(answers)) => {
                    for answer in &answers {
                        if !self.say(answer).await {
                            return None;
                        }
                    }
                }
                Some(Line::Message(message)) => match &*message {
                    ClientJsonRpcMessage::Request(request) => {
                        self.begun = true;
                        self.open.begin(&request.id);
                        return Some(*message);
                    }
                    // Before anything was asked there is nothing to be told of.
                    _ if self.begun => return Some(*message),
                    _ => {}
                },
            }
        }
    }

    async fn close(&mut self) -> std::result::Result<(), Self::Error> {
        self.outgoing = None;
        Ok(())
    }
}

/// Reads lines until the client closes its side, and hands on what they are.
fn reading(input: impl Read, sender: &mpsc::Sender<Line>) {
    let mut input = BufReader::with_capacity(64 << 10, input);
    let mut line = Vec::new();
    loop {
        line.clear();
        let too_long = match read_line(&mut input, &mut line) {
            Ok(None) | Err(_) => return,
            Ok(Some(too_long)) => too_long,
        };
        let read = if too_long { Some(Line::Bad(too_long_answer(&line))) } else { parsed(&line) };
        if let Some(read) = read
            && sender.blocking_send(read).is_err()
        {
            return;
        }
    }
}

/// One line, without its end; of one that is too long only how it begins. `None` at the end of the stream.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<Option<bool>> {
    let mut too_long = false;
    loop {
        let (used, ended) = {
            let there = match input.fill_buf() {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                there => there?,
            };
            if there.is_empty() {
                // A last line without an end counts: the client may have closed its side right behind it.
                return Ok((!line.is_empty()).then_some(too_long));
            }
            let end = there.iter().position(|byte| *byte == b'\n');
            let part = &there[..end.unwrap_or(there.len())];
            if !too_long && line.len() + part.len() > LINE_MAX {
                line.truncate(HEAD);
                too_long = true;
            }
            if !too_long {
                line.extend_from_slice(part);
            }
            (part.len() + usize::from(end.is_some()), end.is_some())
        };
        input.consume(used);
        if ended {
            return Ok(Some(too_long));
        }
    }
}

fn too_long_answer(head: &[u8]) -> Vec<ServerJsonRpcMessage> {
    let message = format!("a line holds at most {LINE_MAX} bytes");
    scanned_id(head).map(|id| refused(ErrorCode::INVALID_REQUEST, message, id)).into_iter().collect()
}

/// What a line is; `None` for one that says nothing.
fn parsed(line: &[u8]) -> Option<Line> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return None;
    }
    if let Ok(message) = serde_json::from_slice::<ClientJsonRpcMessage>(line) {
        return Some(Line::Message(Box::new(message)));
    }
    let answers = match serde_json::from_slice::<Value>(line) {
        Ok(Value::Array(items)) => {
            let message = "messages come one a line, not in lists";
            items
                .iter()
                .filter_map(id_of)
                .map(|id| refused(ErrorCode::INVALID_REQUEST, message, id))
                .collect()
        }
        Ok(value) => match id_of(&value) {
            // A message of a kind nobody here knows, and a notification of one: the first is owed an answer.
            Some(id) if value.get("method").is_some_and(Value::is_string) => {
                vec![refused(ErrorCode::INVALID_PARAMS, "the parameters do not fit the method", id)]
            }
            Some(id) => vec![refused(ErrorCode::INVALID_REQUEST, "this is not a request", id)],
            None => Vec::new(),
        },
        Err(_) => scanned_id(line)
            .map(|id| refused(ErrorCode::PARSE_ERROR, "this is not JSON", id))
            .into_iter()
            .collect(),
    };
    Some(Line::Bad(answers))
}

fn refused(
    code: ErrorCode,
    message: impl Into<std::borrow::Cow<'static, str>>,
    id: RequestId,
) -> ServerJsonRpcMessage {
    let data = json!({ "code": Code::Input.name(), "next": "send one JSON-RPC 2.0 message a line" });
    ServerJsonRpcMessage::error(ErrorData::new(code, message, Some(data)), Some(id))
}

/// The id of a message that asks for an answer. What answers us has none of its own.
fn id_of(value: &Value) -> Option<RequestId> {
    let asks = value.get("result").is_none() && value.get("error").is_none();
    asks.then(|| value.get("id").cloned()).flatten().and_then(|id| serde_json::from_value(id).ok())
}

/// The id in a line that is no JSON: the value behind the first `"id":` outside of texts and at the depth of the message.
fn scanned_id(line: &[u8]) -> Option<RequestId> {
    let text = String::from_utf8_lossy(line);
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0usize, 0usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = end_of_text(bytes, at)?;
                let rest = text.get(end..)?.trim_start();
                if depth == 1 && text.get(at..end) == Some("\"id\"") && rest.starts_with(':') {
                    return value_of(rest[1..].trim_start());
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the text that begins here is over.
fn end_of_text(bytes: &[u8], begin: usize) -> Option<usize> {
    let mut at = begin + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

fn value_of(rest: &str) -> Option<RequestId> {
    let end = match rest.as_bytes().first()? {
        b'"' => end_of_text(rest.as_bytes(), 0)?,
        _ => rest.find(|c: char| !(c.is_ascii_digit() || c == '-')).unwrap_or(rest.len()),
    };
    serde_json::from_str(rest.get(..end)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(line: &[u8]) -> Vec<(Value, i64)> {
        match parsed(line) {
            Some(Line::Bad(answers)) => answers
                .iter()
                .map(|answer| {
                    let answer = json!(answer);
                    (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap())
                })
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_bad_line_is_answered_where_its_id_can_be_read() {
        for (line, id, code) in [
            (&br#"{"jsonrpc":"2.0","id":"a\"b","method":"tools/list","#[..], json!("a\"b"), -32700),
            (
                b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{\"x\":\"\xff\xfe\"}}",
                json!(2),
                -32700,
            ),
            (br#"{"id":9}"#, json!(9), -32600),
            (br#"{"params":{"id":1,"x":[}],"text":"\"id\":3","id": 12 ,"#, json!(12), -32700),
        ] {
            assert_eq!(answers(line), [(id, code)], "{}", String::from_utf8_lossy(line));
        }
        let deep =
            format!(r#"{{"id":7,"method":"tools/call","params":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert_eq!(answers(deep.as_bytes())[0].0, json!(7));
        let list =
            br#"[{"jsonrpc":"2.0","id":5,"method":"tools/list"},{"jsonrpc":"2.0","id":6,"method":"ping"},3]"#;
        assert_eq!(answers(list), [(json!(5), -32600), (json!(6), -32600)]);
    }

    #[test]
    fn a_bad_line_without_an_id_is_passed_over() {
        for line in [
            &b"this is not json"[..],
            b"42",
            b"null",
            b"[]",
            b"\"id\":1",
            b"{\"id\":",
            b"{\"id",
            b"{\"id\":null}",
            b"\xff\xff",
        ] {
            assert_eq!(answers(line), [], "{}", String::from_utf8_lossy(line));
        }
        assert!(parsed(b"").is_none() && parsed(b" \r").is_none());
    }

    #[test]
    fn an_answer_to_us_is_never_answered() {
        assert_eq!(answers(br#"{"jsonrpc":"2.0","id":1,"result":7,"error":7}"#), []);
    }

    #[test]
    fn a_line_that_is_too_long_is_not_kept_and_the_next_one_is_read() {
        let mut input = br#"{"id":6,"x":""#.to_vec();
        input.extend(std::iter::repeat_n(b'a', LINE_MAX + 10));
        input.extend_from_slice(b"\"}\nnext\nlast");
        let mut input = BufReader::new(&input[..]);
        let mut line = Vec::new();
        assert_eq!(read_line(&mut input, &mut line).unwrap(), Some(true));
        assert!(line.len() <= HEAD);
        assert_eq!(json!(too_long_answer(&line)[0])["id"], json!(6));
        for wanted in [&b"next"[..], b"last"] {
            line.clear();
            assert_eq!(read_line(&mut input, &mut line).unwrap(), Some(false));
            assert_eq!(line, wanted);
        }
        line.clear();
        assert_eq!(read_line(&mut input, &mut line).unwrap(), None);
    }
}
