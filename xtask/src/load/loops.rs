//! Closed and open loops: clients that ask over HTTP, and what they measure.
//!
//! Comes in: a running server and what is asked. Goes out: how many answers a second and how long they took. An answer that is no success ends the run.
//! Never here: what the figures mean.

use super::{Asks, Running};
use crate::report;
use crate::stress::tiers::Dice;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A connection that stays open.
struct Line {
    stream: BufReader<TcpStream>,
    port: u16,
    /// The last answer.
    body: Vec<u8>,
}

impl Line {
    fn open(port: u16) -> Result<Line, String> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|e| e.to_string())?;
        stream.set_nodelay(true).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).map_err(|e| e.to_string())?;
        Ok(Line { stream: BufReader::new(stream), port, body: Vec::new() })
    }

    fn ask(
        &mut self,
        (token, path, method, body): &(String, String, &'static str, Value),
    ) -> Result<u16, String> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).map_err(|e| e.to_string())?;
        let (mut status, mut length, mut line) = (0, 0usize, String::new());
        loop {
            line.clear();
            if self.stream.read_line(&mut line).map_err(|e| e.to_string())? == 0 {
                return Err("the server closed the connection".to_owned());
            }
            let trimmed = line.trim_end();
            if trimmed.is_empty() {
                break;
            }
            if status == 0 {
                status = trimmed.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
            } else if let Some(value) = trimmed.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body).map_err(|e| e.to_string())?;
        Ok(status)
    }
}

/// What a run measured.
pub(super) struct Measured {
    pub(super) rate: f64,
    pub(super) times: Vec<Duration>,
    /// The server's memory after a third of the time, and at the end.
    pub(super) grew: Option<(u64, u64)>,
}

impl Measured {
    pub(super) fn at(&self, share: f64) -> f64 {
        let place = ((self.times.len() as f64 - 1.0) * share).round().max(0.0) as usize;
        self.times.get(place).copied().unwrap_or_default().as_secs_f64() * 1e3
    }

    /// Memory at the end beside that after a third.
    pub(super) fn growth(&self) -> f64 {
        self.grew.map_or(1.0, |(third, end)| end as f64 / third.max(1) as f64)
    }

    pub(super) fn told(&self, what: &str) {
        let grew = self.grew.map_or(String::new(), |(third, end)| {
            format!(
                "; anonymous memory {third} kB after a third, {end} kB at the end ({:.2})",
                end as f64 / third.max(1) as f64
            )
        });
        report::line(&format!(
            "{what}: {:.0}/s, p50 {:.2} ms, p99 {:.2} ms{grew}",
            self.rate,
            self.at(0.5),
            self.at(0.99)
        ));
    }
}

/// Every user asks once, unmeasured. Most must find something: a search of nothing measures something else.
pub(super) fn warm(server: &Running, asks: &Asks) -> Result<(), String> {
    let mut line = Line::open(server.port)?;
    let mut dice = Dice::new();
    let mut found = 0;
    for (n, token) in asks.tokens.iter().enumerate() {
        let request = asks.request(0, n, &mut dice);
        let status = line.ask(&(token.clone(), request.1, request.2, request.3))?;
        if !(200..300).contains(&status) {
            return Err(format!("{:?} was answered with {status}", asks.what));
        }
        let answer: Value = serde_json::from_slice(&line.body).unwrap_or_default();
        found += usize::from(answer["hits"].as_array().is_some_and(|hits| !hits.is_empty()));
    }
    match found * 2 > asks.tokens.len() {
        true => Ok(()),
        false => Err(format!("only {found} of {} users found anything", asks.tokens.len())),
    }
}

/// Every client asks again as soon as it has its answer.
pub(super) fn closed(server: &Running, asks: &Asks, lasts: Duration) -> Result<Measured, String> {
    let stop = Arc::new(AtomicBool::new(false));
    let began = Instant::now();
    let clients: Vec<_> = (0..asks.size.connections)
        .map(|client| {
            let (asks, stop, port) = (asks.clone(), Arc::clone(&stop), server.port);
            std::thread::spawn(move || {
                let mut line = Line::open(port)?;
                let mut dice = Dice::new();
                let mut times = Vec::new();
                for n in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let request = asks.request(client, n, &mut dice);
                    let asked = Instant::now();
                    let status = line.ask(&request)?;
                    if !(200..300).contains(&status) {
                        return Err(format!("{:?} was answered with {status}", asks.what));
                    }
                    times.push(asked.elapsed());
                }
                Ok::<_, String>(times)
            })
        })
        .collect();
    std::thread::sleep(lasts / 3);
    let third = server.anonymous();
    std::thread::sleep(lasts.saturating_sub(began.elapsed()));
    let end = server.anonymous();
    stop.store(true, Ordering::Relaxed);
    gathered(clients, began, Some((third, end)))
}

type Client = std::thread::JoinHandle<Result<Vec<Duration>, String>>;

fn gathered(clients: Vec<Client>, began: Instant, grew: Option<(u64, u64)>) -> Result<Measured, String> {
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.join().map_err(|_| "a client broke off".to_owned())??);
    }
    let rate = times.len() as f64 / began.elapsed().as_secs_f64();
    times.sort_unstable();
    Ok(Measured { rate, times, grew })
}

/// Requests come when they come, whether or not earlier ones have their answers; time counts from when one was due.
pub(super) fn open(server: &Running, asks: &Asks, rate: f64, lasts: Duration) -> Result<Measured, String> {
    let began = Instant::now();
    let next = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> = (0..asks.size.connections)
        .map(|client| {
            let (asks, next, port) = (asks.clone(), Arc::clone(&next), server.port);
            std::thread::spawn(move || {
                let mut line = Line::open(port)?;
                let mut dice = Dice::new();
                let mut times = Vec::new();
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let due = began + Duration::from_secs_f64(n as f64 / rate);
                    if due.duration_since(began) >= lasts {
                        return Ok::<_, String>(times);
                    }
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    let status = line.ask(&asks.request(client, n, &mut dice))?;
                    if !(200..300).contains(&status) {
                        return Err(format!("{:?} was answered with {status}", asks.what));
                    }
                    times.push(due.elapsed());
                }
            })
        })
        .collect();
    gathered(clients, began, None)
}
