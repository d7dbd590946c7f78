import OpenAI from 'openai'
import type { Problem } from './client.ts'

/** An error of OpenAI's library. */
export function problemOf(error: unknown): Problem | undefined {
  if (!(error instanceof OpenAI.APIError) || error.error === undefined) return undefined
  const { type, message, param } = error.error as { type?: string; message?: string; param?: string | null }
  return {
    status: error.status as number | undefined,
    type,
    message: message ?? '',
    param: param ?? undefined,
    headers: error.headers as Headers | undefined,
  }
}
