import {
  type Call,
  type Context,
  kernelServices,
  type ModelRequest,
  type Principal,
  type Target,
  TokenCounting,
} from '#kernel'
import { permit } from '#kit'
import { type ProviderCount, ProviderDirectory, ProviderKeys, TokenInquiries } from '#provider'

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** The request to count tokens of, and its caller. */
export interface Counting {
  /** The wire that the request came on. */
  readonly wire: string
  readonly request: ModelRequest
  readonly principal: Principal | undefined
  readonly headers: Headers
  readonly ip: string
  readonly signal: AbortSignal
  header(name: string, value: string): void
}

/**
 * Counts a request's tokens before it is made. The provider counts where it can; where it cannot, or a guard is on
 * whose eyes the texts have not passed, or modules keep the call from that provider, they stay here: counted with the model's tokenizer where one is published, else
 * estimated. The header `x-token-count` says which: `provider`, `tokenizer`, `rules` (tools and images by published
 * rules) or `estimated`, also where a provider counts a part only.
 */
export async function countTokens(context: Context<unknown>, asking: Counting): Promise<number> {
  const { wire, request, principal, headers, ip, signal, header } = asking
  const target = await targetOf(context, request.model, principal, headers)
  const { generation } = context.use(kernelServices.registry)
  const about = { wire, operation: 'chat', request, headers, ip, target } as const
  const call = await permit({ ...about, principal: principal! }, generation)
  for (const [name, value] of Object.entries(call.trace.headers)) header(name, value)
  const mayAsk = !isGuarded(context) && (await isOpen(context, call, target))
  const counted = mayAsk ? await asked(context, call, target, signal) : undefined
  if (counted) {
    header('x-token-count', counted.exact ? 'provider' : 'estimated')
    return counted.tokens
  }
  const { input } = await context.use(TokenCounting).count({ ...request, model: target.model })
  header('x-token-count', input.quality === 'estimate' ? 'estimated' : input.quality)
  return input.tokens
}

/** Where a call of the model would go first. */
async function targetOf(
  context: Context<unknown>,
  model: string,
  principal: Principal | undefined,
  headers: Headers,
): Promise<Target> {
  const forced = headers['x-provider']
  const routes = context
    .use(ProviderDirectory)
    .resolve(model, typeof forced === 'string' && forced !== '' ? forced.toLowerCase() : undefined)
  const keys = context.use(ProviderKeys)
  for (const { provider, model } of routes) {
    const own = principal?.userId === undefined ? undefined : await keys.find(principal.userId, provider.name)
    if (provider.unreadable) throw provider.unreadable
    if (own || provider.configured) return { provider, model, key: own ?? provider.keys[0] }
  }
  const { provider, model: name } = routes[0]!
  return { provider, model: name, key: undefined }
}

const isGuarded = (context: Context<unknown>): boolean =>
  context
    .use(kernelServices.registry)
    .generation.entries.some(({ stage, hooks }) => stage === 'inspect' || hooks.detect?.request !== undefined)

/** Whether modules would let a call go there. */
async function isOpen(context: Context<unknown>, call: Call, { provider, model }: Target): Promise<boolean> {
  const all = await context.targets(call)
  return all.some((open) => open.provider === provider.name && open.model === model)
}

/** The provider's own count, until the client leaves. */
async function asked(
  context: Context<unknown>,
  call: Call,
  target: Target,
  signal: AbortSignal,
): Promise<ProviderCount | undefined> {
  const stop = (): void => call.cancel.abort(new Error('the client left'))
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await context.use(TokenInquiries).count(call, target)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
