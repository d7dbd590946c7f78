import { conflict } from '#kernel'
import type { TemplateRow } from './rows.ts'

/** Labels of a template. */
const most = 20

/** Labels with some of them set, or, with null, taken away. */
export function withLabels(
  labels: TemplateRow['labels'],
  change: Readonly<Record<string, number | null>>,
): TemplateRow['labels'] {
  const all = Object.entries({ ...labels, ...change }).filter(
    (one): one is [string, number] => one[1] !== null,
  )
  if (all.length > most)
    throw conflict(`A template takes ${most} labels. Take one away first.`, { param: 'labels' })
  return Object.fromEntries(all)
}
