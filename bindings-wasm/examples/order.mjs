// Takes orders from a form with a token, although users and gateways send the form more than once.
//
//     node examples/order.mjs
//     node examples/order.mjs redis://localhost:6379
//     node examples/order.mjs zk://localhost:2181/shop

import { connect } from "fencepost";

/** Represents the shop's database. */
const shipped = [];

const client = await connect(process.argv[2] ?? "memory:");
const orders = client.idempotency("orders");

/** Shows an order form. Each form has its own token, which only this user can use. */
async function form(user) {
  const token = crypto.randomUUID();
  await orders.issue(token, { binding: user });
  return token;
}

/** Handles a form that was sent: ships the basket once, and returns the same order number each time. */
async function order(user, token, basket) {
  // If another request with this token is running, this one waits for its result.
  const claim = await orders.consume(token, { binding: user, fingerprint: JSON.stringify(basket) });
  if (!claim.replayed) {
    shipped.push(basket);
    await claim.complete(`order ${shipped.length}`);
  }
  return new TextDecoder().decode(claim.result);
}

/** A gateway that does not get the first response, and sends the request again. */
async function retryingProxy(send) {
  await send();
  return send();
}

const user = "user-7";
const basket = { "item-42": 1 };

const clicked = await form(user);
const clicks = await Promise.all([order(user, clicked, basket), order(user, clicked, basket)]);
console.log("double click:", ...clicks);

// Two forms are two orders: the second form does not replace the first.
const tabs = [await form(user), await form(user)];
console.log("two tabs:", await order(user, tabs[0], basket), await order(user, tabs[1], basket));

const token = await form(user);
console.log("retrying proxy:", await retryingProxy(() => order(user, token, basket)));

try {
  await order(user, token, { "item-42": 1000 });
} catch (error) {
  console.log("the same token, another basket:", error.kind);
}
console.log("shipped:", shipped.length);
await client.close();
