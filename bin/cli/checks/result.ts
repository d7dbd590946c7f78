/** The result of one check. A warning is worth knowing, and everything works all the same. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
}

const maker =
  (status: Check['status']) =>
  (name: string, message: string): Check => ({ name, status, message })

export const ok = maker('ok')
export const warning = maker('warning')
export const failed = maker('failed')
