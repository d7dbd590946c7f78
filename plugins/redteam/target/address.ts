import { type Completion, type Context, HookFault } from '#kernel'
import { parseForeign } from '#kit'
import type { Conversation } from '../attacks/conversation.ts'
import { noAnswer, saidOf, tookTooLong } from './answer.ts'
import type { Asked, Said } from './said.ts'
import type { AskOptions, Target } from './target.ts'

/** Bytes of an answer that are read. */
const mostBytes = 1_000_000

/** The address is not public, and the operator has not allowed it. No attack was sent. */
export class AddressRefused extends Error {}

export interface AddressAttack {
  readonly url: string
  readonly model: string
  readonly key: string | undefined
  readonly maxTokens: number
  readonly timeoutMs: number
}

/**
 * An address that speaks OpenAI's chat completions. Attacks go where plugins may send requests, never to an address that is not public
 * unless the operator allowed it, and redirects are not followed.
 */
export class AddressTarget implements Target {
  readonly name: string
  readonly #fetch: Context<unknown>['fetch']
  readonly #attack: AddressAttack

  constructor({ fetch }: Pick<Context<unknown>, 'fetch'>, attack: AddressAttack) {
    this.name = attack.url
    this.#fetch = fetch
    this.#attack = attack
  }

  async ask(conversation: Conversation, { signal }: AskOptions): Promise<Asked> {
    const time = AbortSignal.timeout(this.#attack.timeoutMs)
    const said = await this.#send(conversation, AbortSignal.any([signal, time])).catch((error: unknown) => {
      signal.throwIfAborted()
      if (time.aborted) return tookTooLong
      if (error instanceof HookFault) throw new AddressRefused('The address is not public')
      if (error instanceof TypeError || isNetwork(error)) return unreachable
      throw error
    })
    return { said, costNano: 0, findings: [] }
  }

  async #send(conversation: Conversation, signal: AbortSignal): Promise<Said> {
    const { url, model, key, maxTokens } = this.#attack
    const response = await this.#fetch(completionsOf(url), {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ ...conversation, model, max_tokens: maxTokens }),
      signal,
    })
    const { status } = response
    const body = await bodyOf(response.body)
    if (status >= 200 && status < 300) return body === undefined ? noAnswer : saidOf(body as Completion)
    if (isRefusal(status, body)) return { kind: 'withheld', by: 'target' }
    return {
      kind: 'failed',
      code: status === 429 ? 'rate_limited' : status < 400 ? 'redirected' : 'http_status',
      message: `The target answered with ${status}.`,
      mayPass: status === 429 || status === 503,
    }
  }
}

/** `https://host/v1` and `https://host/v1/chat/completions` are the same target. */
function completionsOf(address: string): URL {
  const url = new URL(address)
  const path = url.pathname.replace(/\/+$/, '')
  if (!path.endsWith('/completions')) url.pathname = `${path === '' ? '/v1' : path}/chat/completions`
  return url
}

async function bodyOf(stream: AsyncIterable<Uint8Array> | null): Promise<object | undefined> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of stream ?? []) {
    size += part.length
    if (size > mostBytes) return undefined
    parts.push(part)
  }
  try {
    const body = parseForeign(Buffer.concat(parts).toString('utf8'))
    return typeof body === 'object' && body !== null ? body : undefined
  } catch {
    return undefined
  }
}

const words = /^content_(?:blocked|filter|policy_violation)$|^moderation_blocked$/

/** Whether a target says, in the words of its interface, that it withholds an answer because of what was asked. */
function isRefusal(status: number, body: object | undefined): boolean {
  if (status < 400 || status >= 500 || status === 429 || !body) return false
  const error: unknown = 'error' in body ? body.error : undefined
  if (typeof error !== 'object' || error === null) return false
  const { type, code } = error as { readonly type?: unknown; readonly code?: unknown }
  return [type, code].some((word) => typeof word === 'string' && words.test(word))
}

/** A connection that could not be made, or broke: the error of the socket has a code. */
const isNetwork = (error: unknown): boolean => error instanceof Error && 'code' in error

const unreachable: Said = {
  kind: 'failed',
  code: 'network',
  message: 'The target could not be reached.',
  mayPass: false,
}
