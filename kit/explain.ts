import { z } from 'zod'

/** One readable line for anything thrown. */
export function explain(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error).replaceAll(/\s*\n\s*/g, ' ')
  if (error instanceof AggregateError) {
    const reasons = [...new Set(error.errors.map(explain))].join('; ')
    return [error.message, reasons].filter((text) => text !== '').join(': ')
  }
  return error instanceof Error ? error.message : String(error)
}
