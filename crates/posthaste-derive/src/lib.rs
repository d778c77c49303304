//! `#[derive(Equivalence)]` of the crate `posthaste`, where its documentation is.
//!
//! This names the fields of a structure and says in clear words what cannot be derived. What makes the expansion sound is not here,
//! but in the macro of `posthaste-core` that the expansion calls: a mistake here does not compile.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Index, Result, Type, parse_macro_input, parse_quote};

/// Says what numbers a structure is made of, so that it can be an element of messages.
#[proc_macro_derive(Equivalence)]
pub fn equivalence(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derive(input).unwrap_or_else(Error::into_compile_error).into()
}

fn derive(input: DeriveInput) -> Result<Tokens> {
    let DeriveInput { ident, mut generics, data, .. } = input;
    let fields = match data {
        Data::Struct(data) => data.fields,
        Data::Enum(_) => {
            let what = "an enumeration cannot be received: not all bytes that may arrive are one of its variants. \
                        Send a number instead, and turn it into a variant when it has arrived";
            return Err(Error::new(ident.span(), what));
        }
        Data::Union(_) => {
            let what = "a union cannot be sent: nobody knows which of its bytes are initialized. Send a structure instead";
            return Err(Error::new(ident.span(), what));
        }
    };
    fields.iter().try_for_each(|field| check(&field.ty))?;
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::posthaste::Equivalence));
    }
    let (parameters, arguments, bounds) = generics.split_for_impl();
    let parameters = quote!(#parameters);
    // Without its angle brackets.
    let parameters: Tokens = match parameters.is_empty() {
        true => parameters,
        false => {
            let all: Vec<_> = parameters.into_iter().collect();
            all[1..all.len() - 1].iter().cloned().collect()
        }
    };
    let bounds = bounds.map(|bounds| &bounds.predicates);
    let names = names(&fields);
    Ok(quote! {
        ::posthaste::equivalence_of_fields!([#parameters] #ident #arguments, [#bounds] { #(#names),* });
    })
}

/// The names of the fields, or their numbers.
fn names(fields: &Fields) -> Vec<Tokens> {
    let name = |(at, field): (usize, &syn::Field)| match &field.ident {
        Some(name) => quote!(#name),
        None => {
            let index = Index { index: at as u32, span: field.ty.span() };
            quote!(#index)
        }
    };
    fields.iter().enumerate().map(name).collect()
}

/// Refuses what is certainly no element, in clear words. What else is none is found out by the compiler.
fn check(ty: &Type) -> Result<()> {
    let what = match ty {
        Type::Reference(_) => {
            "a reference cannot be sent: what it refers to is not in the message. Send the value itself"
        }
        Type::Ptr(_) => "a pointer cannot be sent: it means nothing to another process",
        Type::BareFn(_) => "a function cannot be sent: its address means nothing to another process",
        Type::Path(path) if path.path.is_ident("bool") => {
            "a bool cannot be received: not all bytes that may arrive are true or false. Use a u8"
        }
        Type::Path(path) if path.path.is_ident("char") => {
            "a char cannot be received: not all bytes that may arrive are a character. Use a u32 and char::from_u32"
        }
        Type::Array(array) => return check(&array.elem),
        Type::Paren(inner) => return check(&inner.elem),
        Type::Group(inner) => return check(&inner.elem),
        Type::Tuple(tuple) if !tuple.elems.is_empty() => {
            "a tuple cannot be sent, for its layout has no names for its fields. Use a structure with #[derive(Equivalence)]"
        }
        _ => return Ok(()),
    };
    Err(Error::new(ty.span(), what))
}
