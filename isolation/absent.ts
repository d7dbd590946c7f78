import type { Relay } from '../kernel/plugin/relay.ts'
import { HookFault } from '../kit/work/hook-fault.ts'

/** The parts of a context that a worker lacks, and the reason why nothing stands in for each. */
const absent = {
  call: 'calls in the name of others',
  targets: 'the places that calls may go to',
  completeStreamed: 'streamed answers of its own calls',
  provide: 'services',
  use: 'services',
  find: 'services',
  route: 'routes',
  wire: 'wires',
  protocol: 'protocols',
  personal: 'personal data',
  inspect: 'guards for texts that it brings in',
  whenLive: 'what begins when it answers calls',
  verify: 'checks of the configuration',
  section: 'sections of the configuration',
} as const

export const cannotCross = (id: string, what: string): HookFault =>
  new HookFault(`${id} runs in a worker, which does not support ${what}: set "isolation": "inproc"`)

/** Has every absent part of a context throw an error that says so. */
export function withoutAbsent<C extends object>(id: string, context: C): C {
  for (const [name, what] of Object.entries(absent)) {
    Object.defineProperty(context, name, {
      get() {
        throw cannotCross(id, what)
      },
    })
  }
  return context
}

/** The way to other threads of the gateway, which a worker has not. */
export function severalThreads(id: string, isFirst: boolean): Relay {
  const refuse = (): never => {
    throw cannotCross(id, 'functions that run in another thread')
  }
  return { isFirst, isOnly: false, bind: refuse, bindAnswer: refuse, bindEach: refuse }
}

export const noLogs = (): HookFault =>
  new HookFault(
    'a log asks the functions of its module about rows that lie on the disk, which cannot wait for a worker: ' +
      'give the module "isolation": "inproc", or use a collection',
  )
