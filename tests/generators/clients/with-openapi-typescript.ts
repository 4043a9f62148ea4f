// Uses the site at $SITE by the types that openapi-typescript made, and prints what it saw as JSON.
import createClient from "openapi-fetch";
import type { components, paths } from "./document.js";

declare const process: { env: Record<string, string> };
const { SITE, TOKEN, YAML, DELAY } = process.env;
const ME = "openapi-typescript";
const headers = { Authorization: `Bearer ${TOKEN}` };
const api = createClient<paths>({ baseUrl: SITE, headers });
const last = (response: Response) => response.headers.get("Location")?.split("/").pop();

/** The answer, which there must be. */
function given<T>(found: { data?: T; error?: unknown }): T {
  if (found.data === undefined) throw new Error(JSON.stringify(found.error));
  return found.data;
}

const reason = "a test";
const text = { text: YAML };
const clusters = given(await api.GET("/api/v1/clusters"));
const decisions = given(
  await api.GET("/api/v1/clusters/{name}/decisions", {
    params: { path: { name: "prod" }, query: { fields: ["id", "outcome"] } },
  }),
);
const token = await api.POST("/api/v1/tokens", { body: { name: ME, scopes: ["read"] } });
const tokens = given(await api.GET("/api/v1/tokens"));
const tenant = await api.POST("/api/v1/tenants", { params: { query: { reason } }, body: { name: ME } });
const user = given(
  await api.POST("/api/v1/users", { params: { query: { reason } }, body: { name: ME, email: `${ME}@example.com` } }),
);
const path = { name: "prod-tree" };
const read = await api.GET("/api/v1/hierarchies/{name}/tree", { params: { path } });
const tree = given(read) as components["schemas"]["TreeRequest"];
tree.queues[tree.queues.length - 1].delay = DELAY;
const header = { "If-Match": read.response.headers.get("ETag") ?? "" };
const ruledOut = await api.PUT("/api/v1/hierarchies/{name}/tree", {
  params: { path, header, query: { reason, fail_on: ["loops", "unknown"] } },
  body: tree,
});
const put = given(
  await api.PUT("/api/v1/hierarchies/{name}/tree", { params: { path, header, query: { reason } }, body: tree }),
);
const late = await api.PUT("/api/v1/hierarchies/{name}/tree", {
  params: { path, header, query: { reason } },
  body: text,
});
const made = await api.POST("/api/v1/hierarchies/{name}/tree", {
  params: { path: { name: ME }, query: { reason } },
  body: text,
});
const lint = given(await api.POST("/api/v1/lint", { body: text }));
const problem = await api.GET("/api/v1/clusters/{name}", { params: { path: { name: "nowhere" } } });
const conflict = ruledOut.error as components["schemas"]["FailOnProblem"];
console.log(
  JSON.stringify({
    clusters: clusters.results.map((one) => one.name),
    decisions: decisions.results.map((one) => one.outcome),
    token: [given(token).token.slice(0, 3), last(token.response) === String(given(token).id)],
    tokens: tokens.results.some((one) => one.name === ME),
    tenant: [given(tenant).name, last(tenant.response)],
    user: [user.name, user.email, user.role],
    "ruled out": [conflict.type, conflict.result?.changed],
    tree: [put.changed, put.changes[0].queue, put.changes[0].after],
    late: [late.error?.type, late.error?.status],
    made: [given(made).revision, made.response.headers.get("Location")?.split("/api")[1]],
    lint: Array.isArray(lint.results),
    problem: [problem.error?.type, problem.error?.status],
  }),
);
