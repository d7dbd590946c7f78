import type { Hooks } from '../../kernel/chain/hooks.ts'
import { protocolOptions } from './protocol-options.ts'

/** The hooks of a module that only chooses: its settings are for the protocol, which translates accordingly. */
export function protocolOptionsHooks(
  id: string,
  protocol: string,
  settings: Readonly<Record<string, unknown>>,
): Hooks {
  const chosen = Object.entries(settings).filter(([, value]) => value !== undefined)
  if (chosen.length === 0) return {}
  const own = Object.fromEntries(chosen)
  return {
    pure: true,
    request(call) {
      if (call.operation !== 'chat') return undefined
      Object.assign(protocolOptions(call, protocol), own)
      call.trace.facts[id] = own
      return undefined
    },
  }
}
