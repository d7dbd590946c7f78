/**
 * What a plugin did wrong, in the kernel's own words: unlike what plugins throw, it holds nothing of a call and may be
 * shown to whoever looks at the module.
 */
export class HookFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'HookFault'
  }
}

/** What may be told of anything that a hook threw. */
export function faultOf(error: unknown): string {
  if (error instanceof HookFault) return error.message
  return error instanceof Error ? error.name : typeof error
}
