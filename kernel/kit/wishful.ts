import { wishesOf } from '../call/wishes.ts'
import type { Hooks } from '../chain/hooks.ts'

/** The hooks of a module that does nothing but wish: its settings are for the protocol, which translates accordingly. */
export function wishfulHooks(
  id: string,
  protocol: string,
  settings: Readonly<Record<string, unknown>>,
): Hooks {
  const wishes = Object.entries(settings).filter(([, value]) => value !== undefined)
  if (wishes.length === 0) return {}
  const own = Object.fromEntries(wishes)
  return {
    pure: true,
    request(call) {
      if (call.operation !== 'chat') return undefined
      Object.assign(wishesOf(call, protocol), own)
      call.trace.facts[id] = own
      return undefined
    },
  }
}
