namespace QuickSilver.Membership.Service.Stores;

// What a service must not forget when it restarts, and what several servers of one service agree on: the numbers of configurations never
// repeat and never go back. Nodes register all else again. An instance is one server's hold on a store, under a lease: as long as it has
// that, no other server gets an instance that has it. It grants each number only while the lease is held, so a server that was deposed, or
// stood still, can publish nothing new.
//
// How a lease is got differs by store, and is not for the service to know: a process holds a file or fails, and a cluster of
// servers elects the one that holds etcd's key. All stores pass the same tests, MembershipStoreContract.
internal interface IMembershipStore
{
    /// <summary>
    /// Whether the service may remove members now. False: its lease has ended, or may have ended, and another server may lead.
    /// </summary>
    bool IsHeld { get; }

    /// <summary>Whether other servers may hold it later, so that they all form one service.</summary>
    bool IsShared => false;

    /// <summary>Why a claim is not answered, in sentences that end what was not done; null: that is not known.</summary>
    string? Obstacle => null;

    /// <summary>
    /// The last epoch saved, by this server or one before; 0 when there is none. Throws IOException or InvalidDataException when it cannot
    /// be read.
    /// </summary>
    long LoadEpoch();

    /// <summary>Makes it durable at the latest when a number of it is claimed. Throws IOException when it could not.</summary>
    void SaveEpoch(long epoch);

    /// <summary>Claims a number of a saved epoch, above all earlier ones, before the configuration is sent.</summary>
    /// <param name="configuration">The number.</param>
    /// <param name="onClaimed">
    /// Called once, on the service's core thread, at once or later: no other server has this number, or will have it. Never called if the
    /// lease has ended.
    /// </param>
    void Claim(long configuration, Action onClaimed);

    /// <summary>Gives the lease up permanently: another server may have it at once. This one claims nothing more.</summary>
    Task ReleaseAsync();
}
