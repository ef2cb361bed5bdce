namespace QuickSilver.Groups.States;

// What a member without a state knows when it asks others: the newest view that it has got, and what the state must contain.
/// <param name="View">The number of the view.</param>
/// <param name="Members">Its members by age.</param>
/// <param name="Needed">What the state must contain. It does not change.</param>
/// <param name="IsNew">Whether what was taken before is void.</param>
internal sealed record StateSearch(long View, IReadOnlyList<NodeId> Members, StatePlace Needed, bool IsNew);
