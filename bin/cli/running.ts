import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import type { Config } from '../../config/config.ts'

const note = z.object({ url: z.url() })

const noteIn = (dataDir: string): string => path.join(dataDir, 'running.json')

/** Writes down in a data folder where its gateway listens, for the commands that run beside it. */
export function noteRunning(dataDir: string, url: string): Promise<void> {
  return writeFile(noteIn(dataDir), `${JSON.stringify({ url: reachable(url) })}\n`, { mode: 0o600 })
}

export const forgetRunning = (dataDir: string): Promise<void> => rm(noteIn(dataDir), { force: true })

/**
 * The address of the gateway of a configuration: the one that it has written down, or the one in the configuration. Undefined
 * when none answers; the note of a killed gateway counts for nothing.
 */
export async function findRunning(
  config: Pick<Config, 'dataDir' | 'host' | 'port'>,
): Promise<string | undefined> {
  const noted = await readFile(noteIn(config.dataDir), 'utf8')
    .then((text) => note.parse(JSON.parse(text)).url)
    .catch(() => undefined)
  const places = new Set([noted, config.port === 0 ? undefined : urlOf(config)])
  for (const url of places) if (url !== undefined && (await answers(url))) return url
  return undefined
}

/** Whether one of ours listens at a URL, one that drains included: its answers carry ids as ours do. */
export async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2000) })
    await response.body?.cancel()
    return response.headers.get('x-request-id')?.startsWith('req_') === true
  } catch {
    return false
  }
}

/** Where a gateway with this configuration listens. */
export const urlOf = ({ host, port }: Pick<Config, 'host' | 'port'>): string =>
  reachable(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)

/** The same with an address that can be connected to, in the place of one that stands for all of a machine's. */
function reachable(url: string): string {
  const { hostname, port } = new URL(url)
  const host = hostname === '0.0.0.0' || hostname === '[::]' ? 'localhost' : hostname
  return `http://${host}:${port || 80}`
}

const failure = z.object({ error: z.object({ message: z.string() }) })

/** Sends a management request to a running gateway, however long it takes. Throws what it says when it refuses. */
export async function askRunning(
  url: string,
  key: string | undefined,
  method: 'GET' | 'POST',
  at: string,
  body: unknown,
): Promise<unknown> {
  if (!key) {
    throw new Error(
      `a gateway runs on ${url}: give an admin key of it with --key or SERVICE_ADMIN_KEY, or stop it first`,
    )
  }
  // A starting gateway loads this file but makes no requests, so undici is loaded only here.
  const { Agent, request } = await import('undici')
  const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  try {
    const response = await request(url + at, {
      method,
      dispatcher: patient,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answer: unknown = await response.body.json()
    if (response.statusCode < 300) return answer
    throw new Error(failure.safeParse(answer).data?.error.message ?? `${url} answered ${response.statusCode}`)
  } finally {
    await patient.close()
  }
}
