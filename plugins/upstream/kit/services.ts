import { guardedToken } from '#kernel'
import type { RouteTable } from '../directory/route-table.ts'
import type { RuntimeProviders } from '../directory/runtime-providers.ts'
import type { Directory } from '../directory.ts'
import type { KeyStore } from '../keys/key-store.ts'
import type { Moderator } from '../moderator.ts'
import type { Prober } from '../probe.ts'
import type { TokenInquiry } from '../token-inquiry.ts'

/** The providers with their keys, and which of them gets a model. */
export const ProviderDirectory = guardedToken<Directory>('provider-directory')
/** What is said of providers, in service.yaml and at runtime. */
export const ProviderEntries = guardedToken<RuntimeProviders>('provider-entries')
/** Users' own keys. */
export const ProviderKeys = guardedToken<KeyStore>('provider-keys')
/** Asks providers whether they are there. */
export const ProviderProber = guardedToken<Prober>('provider-prober')
/** The table of routes. */
export const RouteRules = guardedToken<RouteTable>('route-rules')
/** Asks providers how many tokens a call would have. */
export const TokenInquiries = guardedToken<TokenInquiry>('token-inquiry')
/** Asks providers how abusive texts are. */
export const Moderation = guardedToken<Moderator>('moderation')

export { destinationOf } from '../delivery/destination.ts'
export { keyText, providerFields, providerName } from '../directory/provider-said.ts'
export { mostRoutes, type RouteRule, routeRule } from '../directory/route-section.ts'
export type { RouteTable } from '../directory/route-table.ts'
export type { ProviderChange, RuntimeProviders } from '../directory/runtime-providers.ts'
export type { Directory } from '../directory.ts'
export { type KeyStore, type ProviderKeyView, UnreadableKey } from '../keys/key-store.ts'
export { type AbuseCategory, type AbuseScores, abuseCategories } from '../moderator.ts'
export type { Probe } from '../probe.ts'
export type { ProviderCount } from '../token-inquiry.ts'
