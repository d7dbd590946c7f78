import { z } from 'zod'
import { checked } from './checked.ts'
import type { Fields, Report } from './schema.ts'

const sealed = z.looseObject({ encrypted_content: z.string() })

/** How texts begin that OpenAI has encrypted for its own models. */
const foreign = 'gAAAA'

/**
 * The contents of a message from one agent to another. Clients pass on a model's arguments as encrypted content, which here is
 * the text itself; content that was encrypted elsewhere is left out and reported.
 */
export function agentParts(parts: readonly Fields[], at: string, report: Report): Fields[] {
  return parts.flatMap((part, i) => {
    if (part.type !== 'encrypted_content') return [part]
    const { encrypted_content: text } = checked(sealed, part, `${at}.${i}`)
    if (!text.startsWith(foreign)) return [{ type: 'input_text', text }]
    report('-input.encrypted_content')
    return []
  })
}
