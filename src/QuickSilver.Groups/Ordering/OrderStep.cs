using QuickSilver.Membership.Views;

namespace QuickSilver.Groups.Ordering;

// The messages of a sender up to a number: in an order message, those that are next; in a causal message, those that come before it.
internal readonly record struct OrderStep(NodeKey Sender, long Through);
