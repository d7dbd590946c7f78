import type { Limit } from '#kernel'
import { bucket } from './bucket.ts'
import { concurrency } from './concurrency.ts'
import type { Kind } from './kind.ts'
import { period } from './period.ts'
import { sliding } from './sliding.ts'

export const kinds: Readonly<Record<Limit['kind'], Kind<Limit, unknown>>> = {
  concurrency,
  sliding,
  bucket,
  day: period,
  month: period,
}
