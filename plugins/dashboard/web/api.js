/** What the gateway refused, in its own words. */
export class ApiError extends Error {
  /**
   * @param {number} status 0 when the gateway cannot be reached
   * @param {string} code
   * @param {string} message
   * @param {string | null} param the field that is wrong
   * @param {number} retryAfterS
   * @param {readonly { path: string, message: string }[]} problems what is wrong, field by field
   */
  constructor(status, code, message, param = null, retryAfterS = 0, problems = []) {
    super(message)
    this.status = status
    this.code = code
    this.param = param
    this.retryAfterS = retryAfterS
    this.problems = problems
  }
}

/** Called when the session has ended, so that the page asks for a key again. */
let onSignedOut = () => {}

/** @param {() => void} listener */
export function whenSignedOut(listener) {
  onSignedOut = listener
}

/**
 * Asks the gateway. Rejects with an ApiError for what it refuses, and when it cannot be reached.
 * @param {string} method
 * @param {string} path
 * @param {{ body?: unknown, query?: Record<string, unknown>, key?: string, signal?: AbortSignal }} [options]
 * @returns {Promise<any>}
 */
export async function ask(method, path, { body, query, key, signal } = {}) {
  const response = await send(path + textOf(query), {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  if (!response.ok) throw await errorOf(response, key === undefined)
  return response.json()
}

/**
 * Why the gateway refused something.
 * @param {Response} response
 * @param {boolean} [bySession] whether the session was asked with, and not a key
 */
export async function errorOf(response, bySession = true) {
  const answer = await response.json().catch(() => undefined)
  const {
    code = 'internal_error',
    message = response.statusText,
    param = null,
    details,
  } = answer?.error ?? {}
  if (response.status === 401 && bySession) onSignedOut()
  const retryAfterS = Number(response.headers.get('retry-after') ?? 0)
  return new ApiError(response.status, code, message, param, retryAfterS, details?.problems)
}

/**
 * Makes a request; rejects with an ApiError when the gateway cannot be reached.
 * @param {string} url
 * @param {RequestInit} init
 */
export async function send(url, init) {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new ApiError(0, 'unreachable', 'The gateway does not answer. Is it running?')
  }
}

/** @param {Record<string, unknown> | undefined} query values that are undefined or empty are left out */
export function textOf(query) {
  const given = Object.entries(query ?? {}).filter(
    ([, value]) => value !== undefined && value !== '' && value !== null,
  )
  if (given.length === 0) return ''
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}
