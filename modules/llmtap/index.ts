import { z } from 'zod'
import { defineModule, kernelServices, TraceReader } from '#kernel'
import { Configurations, detach, personalOfUsers, personalRedactor } from '#kit'
import { FileSink } from './file-sink.ts'
import { httpSink } from './http-sink.ts'
import { keptOfUsers } from './kept-of-users.ts'
import { fact, lineOf } from './record.ts'
import { bytesOf, type SinkSettings, settings, sinkKey } from './settings.ts'
import type { Sink } from './sink.ts'
import { stdoutSink } from './stdout-sink.ts'
import { placeRow, Tap } from './tap.ts'

const everyMs = 500
/** Traces that a sink reads at a time, unless it says less. */
const usualBatch = 200
/** How long a module that is switched off goes on writing what it has, in milliseconds. */
const lastMs = 3000

interface NamedTap {
  readonly configuration: string
  readonly sink: string
  readonly tap: Tap
  /** The name of its files, of a sink that has some. */
  readonly files?: string
}

const sinkItem = z.object({
  configuration: z.string(),
  sink: z.string(),
  written: z.int(),
  dropped: z.int(),
  waiting: z.int(),
  last_error: z.string().nullable(),
})

export default defineModule({
  settings,

  async once({ id, store, use, every, inFirstThread, own, route, personal }) {
    const configurations = new Configurations<readonly NamedTap[]>()
    const taps = (): readonly NamedTap[] => configurations.values.flat()
    const places = store.collection('places', { schema: placeRow })
    const folder = await use(kernelServices.files).folder({ id })

    // Without a listener, the end of who reads standard output would be an error that nothing handles.
    const ignore = (): void => {}
    process.stdout.on('error', ignore)
    own(() => process.stdout.off('error', ignore))

    /** Whether this is the thread that writes. */
    let isFirst = false
    inFirstThread('writes', () => {
      isFirst = true
    })(undefined)
    every(everyMs, () => {
      for (const { tap, sink } of taps()) detach(`the sink ${sink}`, tap.run())
    })
    route({
      method: 'get',
      path: '/api/modules/llmtap/sinks',
      access: 'admin',
      summary: 'How the sinks of the call log are doing',
      returns: z.object({ sinks: z.array(sinkItem) }),
      handle: () => ({
        sinks: taps().map(({ configuration, sink, tap }) => ({ configuration, sink, ...tap.status })),
      }),
    })
    /** Taps that were switched off or replaced, and may still write. */
    const ending = new Set<NamedTap>()
    personal(
      personalOfUsers(
        keptOfUsers(folder, () => [
          ...new Map([...ending, ...taps()].map((one) => [`${one.configuration} ${one.sink}`, one])).values(),
        ]),
      ),
    )
    return { configurations, ending, places, folder, writesHere: () => isFirst }
  },

  setup(context, { configurations, ending, places, folder, writesHere }) {
    const { id, settings: given, log, own, use, secret } = context
    const { sinks, fields, bodies, redact } = given
    if (sinks.length === 0) return {}

    const sinkOf = (one: SinkSettings): Sink => {
      if (one.type === 'stdout') return stdoutSink
      if (one.type === 'http') return httpSink(one, one.token ? secret('LLMTAP_TOKEN') : undefined, context)
      const { name, max_mb, keep } = one
      return new FileSink({ folder, name, maxBytes: bytesOf(max_mb), keep })
    }
    const traces = (): TraceReader => use(TraceReader)
    const form = { fields, bodies, clean: redact ? personalRedactor(['US']) : (text: string) => text }
    const taps = sinks.map((one) => {
      const key = sinkKey(one)
      const tap = new Tap({
        name: `${id} ${key}`,
        sink: sinkOf(one),
        places,
        traces,
        log,
        takes: ({ facts: { [fact]: ids } }) => Array.isArray(ids) && ids.includes(id),
        line: async (trace) =>
          lineOf(trace, bodies === 'none' ? undefined : await traces().bodies(trace.id), {
            ...form,
            isErasable: one.type === 'file',
          }),
        ...(one.type === 'http'
          ? { batch: one.batch, most: one.queue }
          : { batch: usualBatch, most: Number.POSITIVE_INFINITY }),
      })
      return { configuration: id, sink: key, tap, ...(one.type === 'file' && { files: one.name }) }
    })
    const remove = configurations.add(id, taps)
    own(async () => {
      remove()
      for (const one of taps) ending.add(one)
      const isReplaced = configurations.values.flat().some(({ configuration }) => configuration === id)
      if (isReplaced) await Promise.all(taps.map(({ tap }) => tap.inTurn(async () => {})))
      else if (writesHere()) await Promise.all(taps.map(({ tap }) => last(tap)))
      for (const one of taps) ending.delete(one)
    })

    return {
      pure: true,
      request({ trace }) {
        const ids = trace.facts[fact]
        trace.facts[fact] = Array.isArray(ids) ? [...ids, id] : [id]
        return undefined
      },
    }
  },
})

/** Writes what there still is. */
async function last(tap: Tap): Promise<void> {
  const { promise: isLate, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, lastMs)
  await Promise.race([isLate, tap.run()])
  clearTimeout(timer)
}
