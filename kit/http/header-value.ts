import { HookFault } from '../work/hook-fault.ts'

/** A text as a header can carry it: what it cannot is left out. */
export const headerValue = (text: string): string => text.replace(/[^\t\x20-\x7e]/g, '')

/** Headers that HTTP can carry: by names in lower case, without what a value cannot hold. */
export function sendableHeaders(headers: Record<string, string | number>): Record<string, string | number> {
  const entries = Object.entries(headers).map(([name, value]) => {
    if (!/^[!#$%&'*+.^_`|~0-9a-zA-Z-]+$/.test(name))
      throw new HookFault(`there is no header ${JSON.stringify(name)}`)
    return [name.toLowerCase(), typeof value === 'number' ? value : headerValue(String(value))]
  })
  return Object.fromEntries(entries)
}
