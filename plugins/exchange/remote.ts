import { z } from 'zod'
import { type Context, conflict, type Forms, providerError } from '#kernel'
import { isTooDeep } from '#kit'
import type { EnvironmentRow } from './environment.ts'

const mostBytes = 20_000_000
const timeoutMs = 30_000

const state = z.object({ generation: z.int(), hash: z.string().max(100) })
const exported = z.object({
  hash: z.string().max(100),
  sections: z.record(z.string().max(100), z.record(z.string().max(400), z.unknown())),
})
const applied = z.object({
  generation: z.int(),
  hash: z.string().max(100),
  changes: z
    .array(z.object({ section: z.string(), key: z.string(), before: z.unknown(), after: z.unknown() }))
    .max(20_000),
})
const failure = z.object({ error: z.object({ message: z.string().max(10_000) }) })

/** Another gateway, by its management API. Its answers are parsed as any stranger's. */
export class Remote {
  readonly #at: { readonly name: string; readonly url: string; readonly key: string }
  readonly #fetch: Context<unknown>['fetch']

  /** Throws a conflict while the operator has not set the key. */
  constructor(
    { name, url, auth_ref }: Pick<EnvironmentRow, 'name' | 'url' | 'auth_ref'>,
    secrets: Readonly<Record<string, string>>,
    fetch: Context<unknown>['fetch'],
  ) {
    const key = Object.hasOwn(secrets, auth_ref ?? '') ? secrets[auth_ref!] : undefined
    if (!key) throw conflict(`${name} needs secrets.${auth_ref} in service.yaml.`, { param: 'auth_ref' })
    this.#at = { name, url: url!.replace(/\/+$/, ''), key }
    this.#fetch = fetch
  }

  state(): Promise<z.output<typeof state>> {
    return this.#ask(state, 'GET', '/api/config')
  }

  export(sections: readonly string[] | undefined): Promise<z.output<typeof exported>> {
    const query = sections ? `?${new URLSearchParams({ sections: sections.join(',') })}` : ''
    return this.#ask(exported, 'GET', `/api/config/export${query}`)
  }

  /** Sets keys of it, if it is still at a generation. */
  import(sections: Forms, ifGeneration: number, isTrial: boolean): Promise<z.output<typeof applied>> {
    const snapshot = { version: 1, sections }
    const body = { snapshot, mode: 'merge', dry_run: isTrial, if_generation: ifGeneration }
    return this.#ask(applied, 'POST', '/api/config/import', body)
  }

  async #ask<T>(schema: z.ZodType<T>, method: string, at: string, body?: object): Promise<T> {
    const { name, url, key } = this.#at
    let response: Response
    let bytes: Uint8Array
    try {
      response = await this.#fetch(url + at, {
        method,
        redirect: 'error',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      bytes = await bytesOf(response)
    } catch (error) {
      throw providerError(
        `${name} cannot be reached: ${error instanceof Error ? error.message : String(error)}.`,
        {
          cause: error,
        },
      )
    }
    const answer = parsed(bytes)
    if (!response.ok) {
      const said = failure.safeParse(answer).data?.error.message ?? 'nothing that explains it'
      const message = `${name} answered ${response.status}: ${said}`
      throw response.status === 409 ? conflict(message) : providerError(message)
    }
    const { data } = schema.safeParse(answer)
    if (data === undefined) throw providerError(`${name} does not answer as a gateway does.`)
    return data
  }
}

async function bytesOf(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > mostBytes) throw new Error(`its answer has more than ${mostBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parsed(bytes: Uint8Array): unknown {
  if (isTooDeep(bytes)) return undefined
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}
