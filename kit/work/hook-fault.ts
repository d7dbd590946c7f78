/** A plugin's mistake in the kernel's own words. It holds nothing of a call, as what plugins throw may, so admins may see it. */
export class HookFault extends Error {
  /** Whether it is held against the module already: one mistake can break off several runs. */
  declare isHeld?: boolean

  constructor(message: string) {
    super(message)
    this.name = 'HookFault'
  }
}

/** How V8 says that something cannot be written to: frozen, or read only. */
const writes =
  /^Cannot (?:assign to read only|add|delete|define|set) property|^'\w+' on proxy: trap returned falsish|object is not extensible$/

/** The details that may be shown of a value that a hook threw. */
export function faultOf(error: unknown): string {
  if (error instanceof HookFault) return error.message
  if (error instanceof TypeError && writes.test(error.message))
    return 'wrote into a read-only value: to change it, return a copy with other fields'
  return error instanceof Error ? error.name : typeof error
}

/** What a value is, in words for the author of a module. */
export function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Whether a value of a plugin is an object with fields. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
