import { z } from 'zod'
import type { Call } from '../kernel/call/call.ts'
import type { Reply, WholeReply } from '../kernel/call/reply.ts'
import type { Chunk } from '../kit/canonical/chunk.ts'
import type { Operation, StructuredOutput } from '../kit/canonical/forms.ts'
import type { Usage } from '../kit/canonical/usage.ts'
import type { GatewayError, UpstreamError } from '../kit/errors.ts'

const takesShortNames = (pattern: string): boolean => {
  try {
    return new RegExp(pattern).test('_aZ_9'.padEnd(63, '_'))
  } catch {
    return false
  }
}

/**
 * The facts needed to talk to a provider: all data. The protocol does the talking, so a provider that speaks a known protocol
 * needs no code.
 */
export const providerSpec = z.strictObject({
  /** The protocol's id. */
  protocol: z.string(),
  /** May name options in braces: `https://{resource}.example.com`. */
  base_url: z.url().optional(),
  /**
   * Environment variables that may hold the key, first one set wins. `{A}:{B}` puts a key together from several, all of
   * which must be set but those marked as `{C?}`.
   */
  key_env: z.array(z.string()).default([]),
  /** Environment variable that may hold the base URL. */
  base_url_env: z.string().optional(),
  /** Whether calls need a key. */
  key: z.enum(['required', 'optional', 'none']).default('required'),
  /** The exchange that turns its keys into the credentials of requests, by name; without one the keys are sent as they are. */
  key_exchange: z.string().optional(),
  /** Models it serves, as globs; used to route a bare model name. */
  models: z.array(z.string()).default([]),
  operations: z.array(z.enum(['chat', 'completion', 'embedding'])).default(['chat']),
  /** The header that says which organisation to bill. */
  org_header: z.string().optional(),
  /** Headers sent with each request. */
  headers: z.record(z.string(), z.string()).default({}),
  /** Takes any model, as long as no other provider can answer: for an installation that has no key yet. */
  fallback: z.boolean().default(false),
  /** Where it runs models, such as `eu`; an option of that name, and the entry in service.yaml, say otherwise. */
  region: z.string().optional(),
  /** The name under which the price data knows it, where that is another. */
  price_id: z.string().optional(),
  /** Whether calls to it cost nothing, whatever their model; a price of the operator's or of the catalogue outweighs it. */
  free: z.boolean().default(false),
  /** Its other options, by name; the entry in service.yaml outweighs them. */
  options: z.record(z.string(), z.unknown()).default({}),
  /** Environment variables that may hold an option, first one set wins. */
  option_env: z.record(z.string(), z.array(z.string())).default({}),
  /**
   * The names of tools that it takes, as a pattern; by default those that OpenAI takes. For others it gets short ones, of
   * letters, digits and `_`, up to 63 characters long and begun by a letter or `_`: these it must take.
   */
  tool_names: z
    .string()
    .refine(takesShortNames, 'expected a pattern that every short name matches')
    .default('^[a-zA-Z0-9_-]{1,64}$'),
  /** How it departs from its protocol; read by the protocol. */
  quirks: z.record(z.string(), z.unknown()).default({}),
})

export type ProviderSpec = z.infer<typeof providerSpec>

/** A key with which a provider may be called. Its secret is for the request only: never logged, traced or returned. */
export interface Credential {
  /** Tells keys of one provider apart, and keeps its meaning over restarts. */
  readonly id: string
  readonly secret: string
  /** Last characters, for traces; by `hintOf`. */
  readonly hint: string
  readonly weight: number
  /** The owner. */
  readonly owner: 'user' | 'global'
}

/** The part of a key that may be shown: its last four characters, or nothing where these would be all of it. */
export const hintOf = (secret: string): string => (secret.length > 4 ? secret.slice(-4) : '')

/** A provider as configured: spec, overrides and keys. */
export interface Provider {
  readonly name: string
  readonly spec: ProviderSpec
  readonly protocol: string
  /** Without a trailing slash; with the braces that are left where an option is missing. */
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  /** Options that only this provider knows; checked by its protocol. */
  readonly options: Readonly<Record<string, unknown>>
  /** The operator's own keys, in the order of the configuration. */
  readonly keys: readonly Credential[]
  /** Where its keys come from, for people. */
  readonly keySource: 'api' | 'config' | 'environment' | 'none'
  /** Whether a call to it can succeed without a user's own key. */
  readonly configured: boolean
  /** What calls are refused with that would go to it, as what was said of it at runtime cannot be read: none goes elsewhere instead. */
  readonly unreadable?: GatewayError | undefined
  /** The name under which the price data knows it. */
  readonly priceId: string
  /** Where it runs models, in its own words; undefined where nothing says. */
  readonly region: string | undefined
  /** Whether it is on this machine or in its private network. */
  readonly local: boolean
}

/** Where an attempt goes. */
export interface Target {
  readonly provider: Provider
  /** The model's name at the provider. */
  readonly model: string
  readonly key: Credential | undefined
}

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

export interface UpstreamHead {
  readonly status: number
  /** Lower-case names; the last value of a repeated header. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Turns the bytes of one streamed answer into chunks, wherever the bytes are cut. When it breaks, it throws an UpstreamError,
 * after it has given the chunks that came before: clients get every word that the provider said. Generators do so by
 * themselves.
 */
export interface StreamDecoder {
  /**
   * Whether the mark has come that nothing comes after: what is there behind it is not read. Protocols without such a
   * mark end with the connection.
   */
  readonly isOver?: boolean
  push(bytes: Buffer): Iterable<Chunk>
  /** The connection closed. Throws when the answer is not complete: an end is never invented. */
  end(): Iterable<Chunk>
}

/** How a provider counts the tokens of a request before it is made. */
export interface TokenQuestion {
  /** Whether what it counts is what a call would cost; otherwise only a part of it, and the count is an estimate. */
  readonly exact: boolean
  /** The question; undefined where it cannot be asked about this call. */
  encode(call: Call, target: Target): UpstreamRequest | undefined | Promise<UpstreamRequest | undefined>
  /** How many tokens an answer says there are; undefined when it does not say. */
  decode(body: Buffer, call: Call, target: Target): number | undefined
  /** Whether an answer with an error status says that the provider does not count for this model. */
  declines?(head: UpstreamHead, body: Buffer): boolean
}

/** How a provider scores texts for abuse. */
export interface ModerationQuestion {
  encode(texts: readonly string[], target: Target): UpstreamRequest
  /** For each text its scores from 0 to 1, by category; undefined where the answer does not say. */
  decode(body: Buffer): readonly Readonly<Record<string, number>>[] | undefined
}

/** How to talk to a family of providers: pure translation, the delivery carries the bytes. */
export interface Protocol {
  readonly id: string
  /** The provider's options that it reads, for a check at start; it may read them more leniently itself. */
  readonly options?: z.ZodObject
  /** The wire whose bytes an answer is in, for an operation it speaks; absent operations are refused. */
  readonly wires: Readonly<Partial<Record<Operation, string>>>
  /**
   * How a call's `response_format` reaches this target: `listed` is the operator's or the catalogue's word on JSON Schemas
   * there, undefined where neither has one. With `instruction` the request to encode has the form in words, and no
   * `response_format`. Without this function a JSON Schema is native where that is listed, and JSON without a schema
   * everywhere.
   */
  structuredOutput?(call: Call, target: Target, listed: boolean | undefined): StructuredOutput
  /** The request as the provider wants it. A field that it cannot carry is refused or listed in the call's trace. */
  encode(call: Call, target: Target): UpstreamRequest | Promise<UpstreamRequest>
  /**
   * How many inputs a request for embeddings may have. For more, several requests are made and their answers put
   * together.
   */
  mostInputs?(target: Target): number
  decode(head: UpstreamHead, body: Buffer, call: Call, target: Target): WholeReply
  decoder(head: UpstreamHead, call: Call, target: Target): StreamDecoder
  /** The meaning of an answer with an error status. */
  error(head: UpstreamHead, body: Buffer, target: Target): UpstreamError
  /** The content of a reported usage: the `usage` of a body, or of the last chunk that had one. */
  usage(reported: unknown, target: Target): Usage | undefined
  /** The cost in the provider's report, in USD, from the same place; it outweighs every price list. */
  costUsd?(reported: unknown, target: Target): number | undefined
  /** Where the target's key has models run, if it says so itself; undefined leaves it at the provider's region. */
  region?(target: Target): string | undefined
  /** A cheap real request that shows whether provider and key work. */
  check(target: Target): UpstreamRequest | Promise<UpstreamRequest>
  /** The names of models that the answer to a check lists. */
  models?(body: Buffer): string[] | undefined
  /** For providers that count tokens of requests when they are asked. */
  readonly tokens?: TokenQuestion
  /** For providers that score texts for abuse. */
  readonly moderation?: ModerationQuestion
  /** For providers that are not over there: answers itself, and the rest of the protocol is not used. */
  answer?(call: Call, target: Target): Promise<Reply>
}
