import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FormChange, Forms } from '#kernel'
import { canonicalJson } from '#kit'
import { runs } from '../../test/suite/runs.ts'
import { formsOf, isUntouched, objectsAfter, wantedBy } from './merge.ts'
import type { InstalledObject } from './shapes.ts'

/** What sets keys, as the configuration does it: what is the same is no change, and null clears. */
function set(now: Forms, wanted: Forms): { readonly next: Forms; readonly changes: FormChange[] } {
  const next = structuredClone(now) as Record<string, Record<string, unknown>>
  const changes: FormChange[] = []
  for (const [section, forms] of Object.entries(wanted))
    for (const [key, after] of Object.entries(forms)) {
      const before = now[section]?.[key] ?? null
      if (canonicalJson(before) === canonicalJson(after)) continue
      changes.push({ section, key, before, after })
      if (after === null) delete next[section]![key]
      else next[section]![key] = after
    }
  return { next, changes }
}

const places = ['a.one', 'a.two', 'b.one', 'b.two']
const formsFrom = (values: Readonly<Record<string, unknown>>): Forms => ({
  a: {},
  b: {},
  ...formsOf(
    Object.entries(values).map(([place, form]) => {
      const [section = '', key = ''] = place.split('.')
      return { section, key, form }
    }),
  ),
})
const form = fc.record({ value: fc.nat(2) })
const formsWith = (form: fc.Arbitrary<unknown>) =>
  fc.dictionary(fc.constantFrom(...places), form).map((values) => formsFrom({ ...values }))
const forms = formsWith(form)

const nameOf = ({ section, key }: InstalledObject): string => `${section}.${key}`

const step = fc.oneof(
  fc.record({ install: formsWith(fc.option(form)) }),
  fc.record({ edit: fc.constantFrom(...places), clears: fc.boolean() }),
)

test('after any installs and edits an uninstall leaves what was there first, with the edits', () => {
  fc.assert(
    fc.property(forms, fc.array(step, { maxLength: 8 }), (first, steps) => {
      let now = first
      let expected = first
      let held: InstalledObject[] = []
      for (const [n, one] of steps.entries()) {
        if ('install' in one) {
          const { next, changes } = set(now, wantedBy(one.install, held, { sections: now, secrets: [] }))
          held = objectsAfter(one.install, changes, { held, isTaken: () => false })
          now = next
          continue
        }
        const [section = '', key = ''] = one.edit.split('.')
        // To clear what is not there is no edit, and to clear what a pack has cleared is what the pack did.
        const isCleared = held.some((object) => nameOf(object) === one.edit && object.after === null)
        if (one.clears && (isCleared || now[section]?.[key] === undefined)) continue
        const edit = formsOf([{ section, key, form: one.clears ? null : { edited: n } }])
        now = set(now, edit).next
        expected = set(expected, edit).next
      }
      const mine = held.filter((object) => isUntouched(object, now))
      const { next } = set(now, formsOf(mine.map(({ before, ...place }) => ({ ...place, form: before }))))
      expect(next).toEqual(expected)
    }),
    runs(1000),
  )
})
