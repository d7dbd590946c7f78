import { type Context, HookFault } from '#kernel'
import { compileGlobs } from '#kit'

/** Why an image cannot be sent on, for the client. */
export class ImageFault extends Error {}

export interface SourceOptions {
  readonly fetch: Context<unknown>['fetch']
  readonly maxBytes: number
  readonly timeoutMs: number
  /** Globs of hosts; every public one if empty. */
  readonly allowHosts: readonly string[]
}

const mostRedirects = 3
const dataUrl = /^data:[\w.+/-]*(?:;[\w.+=-]+)*;base64,/i

/**
 * Gets the bytes of images from data URLs and web addresses. Each address of a redirect is checked as the first one is: its host must
 * be allowed, and it must be public, unless the operator allows more. Throws an ImageFault.
 */
export class ImageSource {
  readonly #options: SourceOptions
  readonly #isAllowed: (host: string) => boolean

  constructor(options: SourceOptions) {
    this.#options = options
    this.#isAllowed = options.allowHosts.length === 0 ? () => true : compileGlobs(options.allowHosts)
  }

  async bytesOf(url: string, signal: AbortSignal): Promise<Buffer> {
    if (/^https?:/i.test(url)) return this.#fetched(url, signal)
    const head = dataUrl.exec(url.slice(0, 200))
    if (!head) throw new ImageFault('it is neither a web address nor a data URL in base64')
    const body = url.slice(head[0].length)
    if ((body.length / 4) * 3 > this.#options.maxBytes + 2) throw this.#tooLarge()
    return Buffer.from(body, 'base64')
  }

  async #fetched(url: string, signal: AbortSignal): Promise<Buffer> {
    const { fetch, timeoutMs } = this.#options
    const ends = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    try {
      let at = url
      for (let hops = 0; hops <= mostRedirects; hops += 1) {
        if (!URL.canParse(at) || !/^https?:/i.test(at)) throw new ImageFault('its address is not valid')
        if (!this.#isAllowed(new URL(at).hostname))
          throw new ImageFault('its host is not one of those that are allowed')
        const response = await fetch(at, { redirect: 'manual', signal: ends, headers: { accept: 'image/*' } })
        const next = response.headers.get('location')
        if (response.status >= 300 && response.status < 400 && next !== null) {
          await response.body?.cancel()
          at = URL.canParse(next, at) ? new URL(next, at).href : next
          continue
        }
        if (response.status === 200) return await this.#read(response)
        await response.body?.cancel()
        throw new ImageFault(`its host answered ${response.status}`)
      }
      throw new ImageFault(`its host redirects more than ${mostRedirects} times`)
    } catch (error) {
      signal.throwIfAborted()
      throw faultOf(error)
    }
  }

  /** The body, which is given up as soon as it is too large. */
  async #read(response: Response): Promise<Buffer> {
    const parts: Uint8Array[] = []
    let length = 0
    for await (const part of response.body ?? []) {
      length += part.length
      if (length > this.#options.maxBytes) throw this.#tooLarge()
      parts.push(part)
    }
    return Buffer.concat(parts)
  }

  #tooLarge(): ImageFault {
    return new ImageFault(`it has more than ${this.#options.maxBytes} bytes`)
  }
}

/** Says nothing of the network that the client does not know, such as the address that a name leads to. */
function faultOf(error: unknown): ImageFault {
  if (error instanceof ImageFault) return error
  if (error instanceof HookFault) return new ImageFault('its address is not public')
  if (error instanceof Error && error.name === 'TimeoutError')
    return new ImageFault('its host did not send it in time')
  return new ImageFault('it could not be fetched')
}
