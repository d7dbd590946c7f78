import { expect, test } from 'vitest'
import { callWith } from '../../test/chain.ts'
import { compileRules, ruleSchema } from './rules.ts'

const claimsOn = compileRules([ruleSchema.parse({ per: 'project', match: 'docs', rpm: 5 })])

/** What a call of a tenant's project is counted by. */
function nameFor(tenant: string | undefined, project = 'docs'): string | undefined {
  const { principal } = callWith()
  const call = callWith({}, { principal: { ...principal, tenant }, context: { project } })
  return claimsOn(call)[0]?.name
}

test('projects of two tenants that have one name share no limit, and the rule holds for both', () => {
  const names = [nameFor(undefined), nameFor('acme'), nameFor('globex')]
  expect(new Set(names).size).toBe(3)
  expect(names).not.toContain(undefined)
  expect(nameFor('acme')).toBe(nameFor('acme'))
  expect(nameFor('acme', 'web')).toBeUndefined()
})

test.each(['model', 'global'] as const)('a limit per %s is one of each tenant', (per) => {
  const rules = compileRules([ruleSchema.parse({ per, rpm: 5 })])
  const names = [undefined, 'acme', 'globex'].map((tenant) => {
    const { principal } = callWith()
    return rules(callWith({}, { principal: { ...principal, tenant } }))[0]!.name
  })
  expect(new Set(names).size).toBe(3)
})

test('a project is counted as ever where there are no tenants', () => {
  expect(nameFor(undefined)).toBe('project:docs')
})
