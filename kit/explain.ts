import { z } from 'zod'
import { shortened } from './text/shortened.ts'

/** Issues of a value that are told of, and characters of them all. */
const most = { issues: 20, characters: 2000 }

/** One readable line for anything thrown. */
export function explain(error: unknown): string {
  if (error instanceof z.ZodError) {
    const text = z.prettifyError({ issues: error.issues.slice(0, most.issues) })
    return shortened(text.replaceAll(/\s*\n\s*/g, ' '), most.characters)
  }
  if (error instanceof AggregateError) {
    const reasons = [...new Set(error.errors.map(explain))].join('; ')
    return [error.message, reasons].filter((text) => text !== '').join(': ')
  }
  return error instanceof Error ? error.message : String(error)
}
