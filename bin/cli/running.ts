import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import type { Config } from '../../config/config.ts'
import { isLocked } from '../../storage/level.ts'
import { exists } from './data-folder.ts'

const note = z.object({ url: z.url() })

const noteIn = (dataDir: string): string => path.join(dataDir, 'running.json')

/** Writes down in a data folder where its gateway listens, for the commands that run beside it. */
export function noteRunning(dataDir: string, url: string): Promise<void> {
  return writeFile(noteIn(dataDir), `${JSON.stringify({ url: reachable(url) })}\n`, { mode: 0o600 })
}

export const forgetRunning = (dataDir: string): Promise<void> => rm(noteIn(dataDir), { force: true })

type Place = Pick<Config, 'dataDir' | 'host' | 'port'>

/**
 * The address of the gateway that has a data folder: the one that it has written down, or the one in the configuration. Undefined
 * when none answers. Whatever answers while no process has the store open has another data folder; so has what answers in the
 * place of a killed gateway that left its note.
 */
export async function findRunning(config: Place): Promise<string | undefined> {
  const store = path.join(config.dataDir, 'db')
  if (!(await exists(store)) || !(await isLocked(store))) return undefined
  const noted = await readFile(noteIn(config.dataDir), 'utf8')
    .then((text) => note.parse(JSON.parse(text)).url)
    .catch(() => undefined)
  return noted !== undefined && (await answers(noted)) ? noted : findConfigured(config)
}

/** Where one of ours answers in the place that the configuration has, whatever data folder it has. */
export async function findConfigured(config: Pick<Place, 'host' | 'port'>): Promise<string | undefined> {
  const url = urlOf(config)
  return config.port !== 0 && (await answers(url)) ? url : undefined
}

/**
 * The same as `findRunning` for commands that work on the data folder itself when none answers. Throws when the gateway in the
 * configured place is one of another data folder: it would do there what is meant for this one, or a lock that cannot be
 * seen from here would let two work on one store.
 */
export async function demandOwn(config: Place): Promise<string | undefined> {
  const own = await findRunning(config)
  const other = own === undefined ? await findConfigured(config) : undefined
  if (other === undefined) return own
  throw new Error(
    `the gateway on ${other} has another data folder, as no process has the store in ${config.dataDir} open: ` +
      'run this where its service.yaml is, or set SERVICE_PORT to a free port to go on without a gateway',
  )
}

/** Whether one of ours listens at a URL, one that drains included: its answers carry ids as ours do. */
export async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(within(url, '/health'), { signal: AbortSignal.timeout(2000) })
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

/** A path of a gateway, whose URL may end with a slash. */
export const within = (url: string, at: string): string => url.replace(/\/+$/, '') + at

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
  if (!URL.canParse(url)) throw new Error(`${url} is no URL of a gateway, such as http://127.0.0.1:4200`)
  const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  try {
    const response = await request(within(url, at), {
      method,
      dispatcher: patient,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answer: unknown = await response.body.json()
    if (response.statusCode < 300) return answer
    throw new Error(failure.safeParse(answer).data?.error.message ?? `${url} answered ${response.statusCode}`)
  } catch (error) {
    if (!isOfConnection(error)) throw error
    throw new Error(
      error.syscall === 'connect'
        ? `no gateway answers on ${url} (${error.code})`
        : `the gateway on ${url} ended or broke the connection off before it answered; it may have done it all the same`,
    )
  } finally {
    await patient.close()
  }
}

/** An error of the way to a gateway, from the system or from undici's end of the connection. */
const isOfConnection = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error &&
  'code' in error &&
  (('syscall' in error && typeof error.code === 'string') || error.code === 'UND_ERR_SOCKET')
