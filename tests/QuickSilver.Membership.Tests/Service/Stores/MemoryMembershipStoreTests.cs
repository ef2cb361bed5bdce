using QuickSilver.Membership.Service.Stores;

namespace QuickSilver.Membership.Tests.Service.Stores;

public sealed class MemoryMembershipStoreTests : MembershipStoreContract
{
    private MemoryMembershipStore? _first;

    private protected override Task<IMembershipStore?> TryAcquireAsync(string server) =>
        Task.FromResult<IMembershipStore?>(_first is null ? _first = new MemoryMembershipStore() : _first.TryAcquire());
}
