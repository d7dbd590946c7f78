import { matched } from './router.js'
import { from } from './script.js'

/**
 * A page: where it is, what it is called in which group of the menu (without a title it is not there), and whether only admins may
 * see it.
 * @typedef {{ at: string, title?: string, group?: string, admin?: boolean, show: (props: any) => any }} Page
 */

const watch = 'Watch'
const guard = 'Guard'
const build = 'Build'
const route = 'Route'
const run = 'Run'

/** @type {readonly Page[]} */
export const pages = [
  { at: '/', title: 'Overview', group: watch, show: from(() => import('./pages/overview.js'), 'Overview') },
  { at: '/traces', title: 'Traces', group: watch, show: from(() => import('./pages/traces.js'), 'Traces') },
  { at: '/traces/:id', show: from(() => import('./pages/trace.js'), 'Trace') },
  { at: '/costs', title: 'Costs', group: watch, show: from(() => import('./pages/costs.js'), 'Costs') },
  {
    at: '/alerts',
    title: 'Alerts',
    group: watch,
    admin: true,
    show: from(() => import('./pages/alerts.js'), 'Alerts'),
  },
  { at: '/alerts/new', admin: true, show: from(() => import('./pages/alert-new.js'), 'NewAlert') },
  {
    at: '/alerts/history',
    admin: true,
    show: from(() => import('./pages/alert-history.js'), 'AlertHistory'),
  },
  { at: '/alerts/:id', admin: true, show: from(() => import('./pages/alert.js'), 'Alert') },
  {
    at: '/anomalies',
    title: 'Anomalies',
    group: watch,
    show: from(() => import('./pages/anomalies.js'), 'Anomalies'),
  },
  { at: '/anomalies/:id', show: from(() => import('./pages/anomaly.js'), 'Anomaly') },
  {
    at: '/guardrails',
    title: 'Guardrails',
    group: guard,
    admin: true,
    show: from(() => import('./pages/guardrails.js'), 'Guardrails'),
  },
  {
    at: '/guardrails/new',
    admin: true,
    show: from(() => import('./pages/guardrail-new.js'), 'NewGuardrail'),
  },
  {
    at: '/guardrails/matches',
    admin: true,
    show: from(() => import('./pages/guardrail-matches.js'), 'GuardrailMatches'),
  },
  {
    at: '/guardrails/try',
    admin: true,
    show: from(() => import('./pages/guardrail-try.js'), 'GuardrailTry'),
  },
  { at: '/guardrails/:id', admin: true, show: from(() => import('./pages/guardrail.js'), 'Guardrail') },
  {
    at: '/playground',
    title: 'Playground',
    group: build,
    show: from(() => import('./pages/playground.js'), 'Playground'),
  },
  {
    at: '/modules',
    title: 'Modules',
    group: route,
    admin: true,
    show: from(() => import('./pages/modules.js'), 'Modules'),
  },
  { at: '/modules/:name', admin: true, show: from(() => import('./pages/module.js'), 'Module') },
  {
    at: '/providers',
    title: 'Providers',
    group: route,
    admin: true,
    show: from(() => import('./pages/providers.js'), 'Providers'),
  },
  {
    at: '/users',
    title: 'Users',
    group: run,
    admin: true,
    show: from(() => import('./pages/users.js'), 'Users'),
  },
  { at: '/users/:id', admin: true, show: from(() => import('./pages/user.js'), 'User') },
  { at: '/keys', title: 'My keys', group: run, show: from(() => import('./pages/keys.js'), 'Keys') },
  { at: '/status', title: 'Status', group: run, show: from(() => import('./pages/status.js'), 'Status') },
  {
    at: '/policies',
    title: 'Policies',
    group: guard,
    admin: true,
    show: from(() => import('./pages/policies.js'), 'Policies'),
  },
  { at: '/policies/new', admin: true, show: from(() => import('./pages/policy-new.js'), 'NewPolicy') },
  { at: '/policies/:id', admin: true, show: from(() => import('./pages/policy.js'), 'Policy') },
  {
    at: '/ledger',
    title: 'Ledger',
    group: guard,
    admin: true,
    show: from(() => import('./pages/ledger.js'), 'Ledger'),
  },
  {
    at: '/ledger/checkpoints',
    admin: true,
    show: from(() => import('./pages/checkpoints.js'), 'Checkpoints'),
  },
  { at: '/ledger/:id', admin: true, show: from(() => import('./pages/ledger-entry.js'), 'LedgerEntry') },
  {
    at: '/evidence',
    title: 'Evidence',
    group: guard,
    admin: true,
    show: from(() => import('./pages/evidence.js'), 'Evidence'),
  },
  { at: '/evidence/new', admin: true, show: from(() => import('./pages/evidence-new.js'), 'NewEvidence') },
  { at: '/evidence/:id', admin: true, show: from(() => import('./pages/evidence-pack.js'), 'EvidencePack') },
  {
    at: '/webhooks',
    title: 'Webhooks',
    group: run,
    admin: true,
    show: from(() => import('./pages/webhooks.js'), 'Webhooks'),
  },
  { at: '/webhooks/new', admin: true, show: from(() => import('./pages/webhook-new.js'), 'NewWebhook') },
  { at: '/webhooks/:id', admin: true, show: from(() => import('./pages/webhook.js'), 'Webhook') },
  {
    at: '/plugins',
    title: 'Plugins',
    group: run,
    admin: true,
    show: from(() => import('./pages/plugins.js'), 'Plugins'),
  },
  { at: '/plugins/:name', admin: true, show: from(() => import('./pages/plugin.js'), 'Plugin') },
  {
    at: '/packs',
    title: 'Packs',
    group: run,
    admin: true,
    show: from(() => import('./pages/packs.js'), 'Packs'),
  },
  { at: '/packs/new', admin: true, show: from(() => import('./pages/pack-new.js'), 'NewPack') },
  {
    at: '/packs/installed',
    admin: true,
    show: from(() => import('./pages/packs-installed.js'), 'PacksInstalled'),
  },
  { at: '/packs/:slug', admin: true, show: from(() => import('./pages/pack.js'), 'Pack') },
  {
    at: '/configuration',
    title: 'Configuration',
    group: run,
    admin: true,
    show: from(() => import('./pages/configuration.js'), 'Configuration'),
  },
  {
    at: '/configuration/:generation',
    admin: true,
    show: from(() => import('./pages/generation.js'), 'Generation'),
  },
  { at: '/live', title: 'Live', group: watch, show: from(() => import('./pages/live.js'), 'Live') },
  {
    at: '/redteam',
    title: 'Red team',
    group: guard,
    show: from(() => import('./pages/campaigns.js'), 'Campaigns'),
  },
  { at: '/redteam/new', show: from(() => import('./pages/campaign-new.js'), 'NewCampaign') },
  {
    at: '/redteam/vulnerabilities',
    show: from(() => import('./pages/vulnerabilities.js'), 'Vulnerabilities'),
  },
  { at: '/redteam/:id', show: from(() => import('./pages/campaign.js'), 'Campaign') },
  {
    at: '/templates',
    title: 'Templates',
    group: build,
    show: from(() => import('./pages/templates.js'), 'Templates'),
  },
  { at: '/templates/new', show: from(() => import('./pages/template-new.js'), 'NewTemplate') },
  { at: '/templates/:slug', show: from(() => import('./pages/template.js'), 'Template') },
  {
    at: '/experiments',
    title: 'Experiments',
    group: build,
    show: from(() => import('./pages/experiments.js'), 'Experiments'),
  },
  { at: '/experiments/new', show: from(() => import('./pages/experiment-new.js'), 'NewExperiment') },
  { at: '/experiments/:id', show: from(() => import('./pages/experiment.js'), 'Experiment') },
  {
    at: '/benchmarks',
    title: 'Benchmarks',
    group: build,
    show: from(() => import('./pages/benchmarks.js'), 'Benchmarks'),
  },
  { at: '/benchmarks/new', show: from(() => import('./pages/benchmark-new.js'), 'NewBenchmark') },
  { at: '/benchmarks/:id', show: from(() => import('./pages/benchmark.js'), 'Benchmark') },
  {
    at: '/replays',
    title: 'Replays',
    group: build,
    show: from(() => import('./pages/replays.js'), 'Replays'),
  },
  { at: '/replays/:id', show: from(() => import('./pages/replay.js'), 'Replay') },
  {
    at: '/workflows',
    title: 'Workflows',
    group: build,
    show: from(() => import('./pages/workflows.js'), 'Workflows'),
  },
  { at: '/workflows/new', show: from(() => import('./pages/workflow-new.js'), 'NewWorkflow') },
  { at: '/workflows/runs', show: from(() => import('./pages/workflow-runs.js'), 'WorkflowRuns') },
  { at: '/workflows/runs/:id', show: from(() => import('./pages/workflow-run.js'), 'WorkflowRun') },
  { at: '/workflows/:slug', show: from(() => import('./pages/workflow.js'), 'Workflow') },
  {
    at: '/autopilot',
    title: 'Autopilot',
    group: route,
    admin: true,
    show: from(() => import('./pages/autopilot.js'), 'Autopilot'),
  },
  {
    at: '/autopilot/decisions',
    admin: true,
    show: from(() => import('./pages/autopilot-decisions.js'), 'AutopilotDecisions'),
  },
  {
    at: '/optimize',
    title: 'Optimise',
    group: route,
    admin: true,
    show: from(() => import('./pages/optimize.js'), 'Optimize'),
  },
]

/** The groups of the menu, in their order. */
export const groups = [watch, guard, build, route, run]

/**
 * @param {string} path
 * @param {readonly Page[]} among
 */
export function pageAt(path, among) {
  for (const page of among) {
    const values = matched(page.at, path)
    if (values) return { page, values }
  }
  return undefined
}
