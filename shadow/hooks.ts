import type { Attempt } from '../kernel/call/attempt.ts'
import type { Call } from '../kernel/call/call.ts'
import { type Reply, StreamReply, WholeReply } from '../kernel/call/reply.ts'
import { applies, type Entry } from '../kernel/chain/entry.ts'
import { type Hooks, hooksOf } from '../kernel/chain/hooks.ts'
import { inspectRequest } from '../kernel/chain/inspect.ts'
import { Meter } from '../kernel/chain/meter.ts'
import type { Instance } from '../kernel/plugin/instance.ts'
import type { Shadow } from '../kernel/plugin/shadow.ts'
import { conflict, isGatewayError } from '../kit/errors.ts'
import { continueWith } from '../kit/work/continue-with.ts'
import { aroundAside, tapInto } from './around.ts'
import { rewriteAside } from './reply.ts'
import { ShadowRun } from './run.ts'

/** Throws a conflict for an instance whose effect does not go through hooks, and so cannot be held back. */
export function refuseShadow({ id, services, wires, protocols }: Instance): void {
  const offers = [
    ...[...services.keys()].map((token) => `the service ${token.description}`),
    ...wires.map(({ path }) => `the path ${path}`),
    ...protocols.map((protocol) => `the protocol ${protocol.id}`),
  ]
  if (offers.length === 0) return
  throw conflict(
    `${id} cannot run in shadow: it offers ${offers.join(', ')}, whose effect on calls cannot be suppressed.`,
    { param: 'mode' },
  )
}

/**
 * A module's place in the chain with hooks that do nothing and note what the module's own would have done. The module
 * gets the call with a trace of its own, and answers as they are, which it cannot write into. `reveal` is not run: without
 * the module's own changes there is nothing to reveal.
 */
export function inShadow(entry: Entry): Entry {
  const inner: Entry = { ...entry, failure: 'open', when: undefined }
  const key = Symbol(entry.id)
  const runOf = (call: Call): ShadowRun | undefined => {
    const run = call.trace.slot(key, () => new ShadowRun(entry.id, entry.meter, call))
    return applies(inner, run.view(call)) ? run : undefined
  }
  const isIdle = hooksOf(entry.hooks).length === 0
  return { ...inner, when: entry.when, meter: new Meter(), hooks: isIdle ? {} : hooksAside(inner, runOf) }
}

/** Modules in shadow, for a kernel. */
export const shadow: Shadow = { refuse: refuseShadow, place: inShadow }

type RunOf = (call: Call) => ShadowRun | undefined

function hooksAside(inner: Entry, runOf: RunOf): Hooks {
  const { admit, request, around, detect, attempt, attempted, attemptEnded, reply, stream } = inner.hooks
  const asks = request ?? detect?.request
  const rewrites = reply ?? stream ?? detect?.reply
  return {
    ...(admit && {
      admit(visit) {
        const note = (error: unknown): void => {
          if (isGatewayError(error)) inner.meter.refuse(error.code)
          else inner.meter.fail('admit', error)
        }
        try {
          const asked: unknown = admit(visit)
          if (asked instanceof Promise) asked.catch(note)
        } catch (error) {
          note(error)
        }
      },
    }),
    ...(asks && {
      request(call) {
        const run = runOf(call)
        run?.run('request', () => inspectAside(run, inner, run.view(call)))
        return undefined
      },
    }),
    ...(around && {
      around(call, next) {
        const run = runOf(call)
        return run ? aroundAside(run, around, call, next) : next(call)
      },
    }),
    ...(attempt && {
      attempt(made, call, headers) {
        const run = runOf(call)
        run?.run('attempt', () => {
          const before = { ...headers }
          const after = { ...headers }
          const compare = (): void => run.compare('headers', before, after)
          return continueWith<unknown, void>(attempt({ ...made }, run.view(call), after), compare)
        })
      },
    }),
    ...(attempted && { attempted: tellAside('attempted', attempted, runOf) }),
    ...(attemptEnded && { attemptEnded: tellAside('attemptEnded', attemptEnded, runOf) }),
    ...(rewrites && {
      reply(body, call) {
        const run = runOf(call)
        run?.run('reply', () => rewriteAside(run, inner, WholeReply.of(body), run.view(call)))
        return undefined
      },
      stream(call) {
        const run = runOf(call)
        if (!run) return undefined
        const feed = run.feed()
        const copy = new StreamReply('', feed)
        run.run('stream', () => rewriteAside(run, inner, copy, run.view(call)))
        return tapInto(feed)
      },
    }),
    async settled(outcome, call) {
      const run = runOf(call)
      if (!run) return
      await run.finish(() => inner.hooks.settled?.(outcome, run.view(call)))
    },
  } as Hooks
}

type Tell = (made: Attempt, call: Call) => void

function tellAside(hook: string, tell: Tell, runOf: RunOf): Tell {
  return (made, call) => {
    const run = runOf(call)
    run?.run(hook, () => tell({ ...made }, run.view(call)))
  }
}

function inspectAside(run: ShadowRun, inner: Entry, call: Call): void | Promise<void> {
  const note = (step: Call | Reply | undefined): void => {
    if (!step) return
    if ('kind' in step) run.note('answered')
    else {
      run.compare('request', call.request, step.request)
      run.compare('timeouts', call.timeouts, step.timeouts)
    }
  }
  const step = inspectRequest(inner, call, () => [])
  return continueWith(step, note)
}
