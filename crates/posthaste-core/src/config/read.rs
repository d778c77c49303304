//! How the value of each kind of setting is read, and what is said of one that cannot be.
//!
//! What must stay true: an error names the variable, what it holds and what was expected, and a variable that is not
//! set leaves the default.

use super::{BounceBuffer, LinkChoice, Way, Ways};
use crate::error::{Error, ErrorClass, Result, say};

/// Settings that got another name in this version: the name today, the one before, which the next version forgets.
pub(super) const RENAMED: [(&str, &str); 2] =
    [("POSTHASTE_VCIS", "POSTHASTE_LANES"), ("POSTHASTE_BOUNCE_BUFFER", "POSTHASTE_COPY_BUFFER")];

/// Looks a setting up, under its old name too, which is warned of.
pub(super) fn renamed(lookup: &impl Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    lookup(name).or_else(|| {
        let (_, old) = RENAMED.iter().find(|(new, _)| *new == name)?;
        let value = lookup(old)?;
        say(format_args!("{old} is called {name} now; this version understands both names"));
        Some(value)
    })
}

/// Ways to other processes, or those to be left out.
pub(super) fn choice_of_ways(
    lookup: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    value: &mut Ways,
) -> Result<()> {
    let Some(text) = lookup(name) else { return Ok(()) };
    let (list, excludes) = text.strip_prefix('^').map_or((&*text, false), |list| (list, true));
    let named = |name: &str| Way::ALL.into_iter().find(|way| way.name() == name.trim());
    let Some(named) = list.split(',').map(named).collect::<Option<Vec<Way>>>() else {
        let names = Way::ALL.map(Way::name).join(", ");
        let expected = format!("a list of {names}, or ^ and a list of those to be left out");
        return Err(Error::invalid(ErrorClass::Arg, name, format!("\"{text}\""), expected));
    };
    if excludes {
        *value = Ways::built(&Way::USUAL);
        value.0.retain(|way| !named.contains(way));
        return Ok(());
    }
    let built = Ways::built(&Way::ALL);
    if let Some(lacking) = named.iter().find(|way| !way.is_built()) {
        let expected = format!("some of {built}: this build of posthaste has no {}", lacking.name());
        return Err(Error::invalid(ErrorClass::Arg, name, format!("\"{text}\""), expected));
    }
    *value = built;
    value.0.retain(|way| named.contains(way));
    Ok(())
}

/// A kind of bounce buffer.
pub(super) fn bounce_buffer(
    lookup: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    value: &mut BounceBuffer,
) -> Result<()> {
    let Some(text) = lookup(name) else { return Ok(()) };
    *value = match (&*text, text.parse()) {
        ("auto", _) => BounceBuffer::Auto,
        ("small", _) => BounceBuffer::Small,
        (_, Ok(bytes)) if (OWN_BUFFER.contains(&bytes)) => BounceBuffer::Own(bytes),
        _ => {
            let (least, most) = OWN_BUFFER.into_inner();
            let expected = format!("auto, small, or a number in {least}..={most}");
            return Err(Error::invalid(ErrorClass::Arg, name, format!("\"{text}\""), expected));
        }
    };
    Ok(())
}

/// Bytes that a bounce buffer of a pair may have; cut to what the node segment has room for.
const OWN_BUFFER: std::ops::RangeInclusive<usize> = 16 << 10..=1 << 30;

/// Several links, or none.
pub(super) fn choice_of_links(
    lookup: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    value: &mut Vec<LinkChoice>,
) -> Result<()> {
    let Some(text) = lookup(name).filter(|text| !text.is_empty()) else { return Ok(()) };
    let link = |text: &str| match text
        .trim()
        .split_once('@')
        .map_or((text.trim(), None), |(way, on)| (way, Some(on)))
    {
        ("tcp", interface) if interface.is_none_or(is_interface) => {
            Some(LinkChoice { way: Way::Tcp, interface: interface.map(str::to_owned) })
        }
        ("fabric", None) => Some(LinkChoice { way: Way::Fabric, interface: None }),
        _ => None,
    };
    match text.split(',').map(link).collect::<Option<Vec<LinkChoice>>>() {
        Some(links) if (2..=4).contains(&links.len()) => {
            *value = links;
            Ok(())
        }
        _ => {
            let expected = "a list of 2 to 4 of tcp, tcp@interface and fabric";
            Err(Error::invalid(ErrorClass::Arg, name, format!("\"{text}\""), expected))
        }
    }
}

fn is_interface(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-:".contains(c))
}

/// A setting that is one of some words.
pub(super) fn word<T: Copy>(
    lookup: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    words: &[(&str, T)],
    value: &mut T,
) -> Result<()> {
    let Some(text) = lookup(name) else { return Ok(()) };
    let Some((_, meant)) = words.iter().find(|(word, _)| *word == text) else {
        let (last, others) = words.split_last().map_or(("", words), |((last, _), others)| (*last, others));
        let others: Vec<&str> = others.iter().map(|(word, _)| *word).collect();
        return Err(Error::invalid(ErrorClass::Arg, name, text, format!("{} or {last}", others.join(", "))));
    };
    *value = *meant;
    Ok(())
}

/// A name without wildcards or control characters.
pub(super) fn text(
    lookup: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    expected: &str,
    value: &mut Option<String>,
) -> Result<()> {
    let Some(text) = lookup(name) else { return Ok(()) };
    if text.is_empty() || text.chars().any(|c| c.is_control() || "?*\"".contains(c)) {
        return Err(Error::invalid(ErrorClass::Arg, name, format!("\"{text}\""), expected));
    }
    *value = Some(text);
    Ok(())
}

/// A folder, or the name of a server's port: who asks the server checks that, without its secret in a sentence.
pub(super) fn place_of_names(
    lookup: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    value: &mut Option<String>,
) -> Result<()> {
    match lookup(name) {
        Some(server) if server.starts_with("ph1/") => *value = Some(server),
        folder => text(&|_| folder.clone(), name, "a folder or a server", value)?,
    }
    Ok(())
}

/// A port, or the first and the last one with `-` between.
pub(super) fn ports(
    lookup: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    range: &mut (u16, u16),
) -> Result<()> {
    let Some(text) = lookup(name) else { return Ok(()) };
    let (first, last) = text.split_once('-').unwrap_or((&text, &text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if first <= last && (first > 0 || last == 0) => {
            *range = (first, last);
            Ok(())
        }
        _ => {
            let expected = "0, a port, or first-last with first <= last <= 65535";
            Err(Error::invalid(ErrorClass::Arg, name, format!("\"{text}\""), expected))
        }
    }
}

/// Names with commas between, perhaps with `^` in front.
pub(super) fn names(
    lookup: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    value: &mut String,
) -> Result<()> {
    let Some(text) = lookup(name) else { return Ok(()) };
    let is_name =
        |one: &str| !one.is_empty() && one.chars().all(|c| c.is_ascii_alphanumeric() || "._-@:".contains(c));
    let list = text.strip_prefix('^').unwrap_or(&text);
    if !text.is_empty() && !list.split(',').all(is_name) {
        let expected = "names with commas between, perhaps with ^ in front";
        return Err(Error::invalid(ErrorClass::Arg, name, format!("\"{text}\""), expected));
    }
    *value = text;
    Ok(())
}

/// A setting that is off (0) or on (1).
pub(super) fn switch(
    lookup: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    value: &mut bool,
) -> Result<()> {
    let mut on = u8::from(*value);
    number(lookup, name, 0..=1, &mut on)?;
    *value = on == 1;
    Ok(())
}

pub(super) fn number<T>(
    lookup: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    range: std::ops::RangeInclusive<T>,
    value: &mut T,
) -> Result<()>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    let Some(text) = lookup(name) else { return Ok(()) };
    match text.parse() {
        Ok(number) if range.contains(&number) => {
            *value = number;
            Ok(())
        }
        _ => Err(Error::invalid(
            ErrorClass::Arg,
            name,
            format!("\"{text}\""),
            format!("a number in {}..={}", range.start(), range.end()),
        )),
    }
}
