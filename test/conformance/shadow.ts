import assert from 'node:assert/strict'
import { isGatewayError } from '../../kit/errors.ts'
import type { Script } from '../upstream/index.ts'
import { bodyOf, callsTo, type Example, type Mode, makeCalls } from './example.ts'
import type { Subject } from './subject.ts'

/** All that the client and the provider get to see of an example's calls. */
interface Witness {
  readonly answers: readonly { status: number; headers: Record<string, string>; text: string }[]
  readonly sent: readonly string[]
}

/** One way to make an example's calls: plain, or a stream that the provider cuts every so many bytes. */
interface Way {
  readonly mode: Mode
  readonly cut?: number
}

/** A stream is cut at every place at once, and at some. */
const cuts = [1, 7, 100]

/**
 * Checks that a module in shadow changes nothing: its examples' calls go to the provider and come back, byte for byte, as
 * they do without it. A module that cannot run in shadow must say so.
 */
export async function changesNothingInShadow(subject: Subject): Promise<void> {
  for (const example of await subject.examples()) {
    if (example.upstream.some(neverEnds)) continue
    await subject.switchOff()
    const without = await witnesses(example, subject, false)
    if (!(await switchedToShadow(subject, example.config))) return
    const withIt = await witnesses(example, subject, true)
    await subject.registry.change(subject.id, { enabled: false, mode: null })
    for (const [way, seen] of withIt) assert.deepEqual(seen, without.get(way), `${example.title} (${way})`)
  }
}

function waysOf({ modes, upstream }: Example): Way[] {
  const used = upstream.some(isSlow) ? modes.slice(0, 1) : modes
  return used.flatMap((mode): Way[] => (mode === 'stream' ? cuts.map((cut) => ({ mode, cut })) : [{ mode }]))
}

/** What is seen in each way to make the example's calls; without the module, streams need no cuts to be what they are. */
async function witnesses(example: Example, subject: Subject, isCut: boolean): Promise<Map<string, Witness>> {
  const seen = new Map<string, Witness>()
  for (const way of waysOf(example)) {
    const { mode, cut } = way
    const name = [mode, ...(cut === undefined ? [] : [cut])].join('-')
    seen.set(name, await witness(example, isCut ? way : { mode }, name, subject))
  }
  return seen
}

/** Scripts that only a module brings to an end. */
const neverEnds = (script: Script): boolean => script.hang === true || script.hangAfter !== undefined

/** Scripts that take their time: once is enough. */
const isSlow = ({ delayMs = 0, firstByteDelayMs = 0 }: Script): boolean => delayMs + firstByteDelayMs > 500

async function switchedToShadow({ registry, id, plugin }: Subject, config: object): Promise<boolean> {
  const had = Object.keys(plugin.stored?.config ?? {})
  const cleared = Object.fromEntries(had.map((name) => [name, null]))
  try {
    await registry.change(id, { enabled: true, mode: 'shadow', config: { ...cleared, ...config } })
    return true
  } catch (error) {
    if (isGatewayError(error) && error.status === 409 && /cannot run in shadow/.test(error.message))
      return false
    throw error
  }
}

async function witness(
  example: Example,
  { mode, cut }: Way,
  name: string,
  { gateway, upstream }: Subject,
): Promise<Witness> {
  const answers = await makeCalls(example, upstream, cut, async () => {
    const response = await fetch(gateway.url + example.path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.adminKey}`,
        'content-type': 'application/json',
        ...example.headers,
      },
      body: bodyOf(example, mode, name),
    })
    const headers = Object.fromEntries([...response.headers].filter(([name]) => !own.has(name)))
    return { status: response.status, headers, text: timeless(await response.text()) }
  })
  const sent = callsTo(upstream).map(({ rawBody }) => rawBody)
  if (!example.at_once) return { answers, sent }
  // Which of several calls at a time comes first is not promised.
  return { answers: answers.toSorted((a, b) => (a.text < b.text ? -1 : 1)), sent: sent.toSorted() }
}

/** Headers that differ from call to call. */
const own = new Set(['date', 'x-request-id', 'x-trace-id'])

/** What differs from second to second and from call to call. */
const timeless = (text: string): string =>
  text.replace(/"created":\s*\d+/g, '"created":0').replace(/"request_id":"[^"]*"/g, '"request_id":""')
