using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Membership.Client;

// What a node has of the membership service, and whether it still is a member.
//
// The connection:
//   Apart -> Registering            a stream is open, and the node has sent its registration
//   Registering -> Welcome          the service has admitted the node, and the observer is notified
//   any -> Apart                    the stream is lost
// The membership:
//   Member -> Leaving               the node has asked the service to let it go, or will ask the next one
//   Leaving -> GivenUp              the node ends at once for its user, while the service is still asked to let it go
//   any -> Over                     the node has left, was expelled, or is disposed
//
// A node may miss configurations while it has a stream. It then asks for a snapshot, once, and ignores what follows until that comes.
//
// Invariant: only these transitions occur. Others throw. Messages of a service may come in any order, so what they cause is legal in each
// phase in which a stream is open.
internal struct ClientPhase
{
    private Connection _connection;
    private Membership _membership;

    private enum Connection : byte
    {
        Apart,
        Registering,
        Welcome,
    }

    private enum Membership : byte
    {
        Member,
        Leaving,
        GivenUp,
        Over,
    }

    /// <summary>A registration was sent on the present stream.</summary>
    public readonly bool HasRegistered => _connection != Connection.Apart;

    /// <summary>The observer knows that the service is reachable.</summary>
    public readonly bool IsWelcome => _connection == Connection.Welcome;

    /// <summary>A snapshot is asked for on the present stream.</summary>
    public bool IsResyncing { get; private set; }

    /// <summary>The service does not know yet that this node leaves, or has not answered.</summary>
    public readonly bool IsLeaving => _membership is Membership.Leaving or Membership.GivenUp;

    /// <summary>This node applies no more configurations and opens no more topics.</summary>
    public readonly bool IsOver => _membership is Membership.GivenUp or Membership.Over;

    /// <summary>Legal while leaving too, because a node may leave through the server that takes over.</summary>
    public void BeginRegistration()
    {
        Require(_membership != Membership.Over && !IsWelcome, nameof(BeginRegistration));
        _connection = Connection.Registering;
        IsResyncing = false;
    }

    /// <summary>Legal when it is welcome already, because a service may say so twice.</summary>
    public void EndRegistration()
    {
        Require(HasRegistered, nameof(EndRegistration));
        _connection = Connection.Welcome;
    }

    /// <summary>Legal without a stream, because attempts to connect fail too.</summary>
    public void Disconnect() => _connection = Connection.Apart;

    public void BeginResync()
    {
        Require(HasRegistered && !IsResyncing, nameof(BeginResync));
        IsResyncing = true;
    }

    /// <summary>Legal without a resync, because the first configuration is a snapshot.</summary>
    public void EndResync() => IsResyncing = false;

    /// <summary>Legal while leaving, because several callers may ask for it.</summary>
    public void BeginLeaving()
    {
        Require(!IsOver, nameof(BeginLeaving));
        _membership = Membership.Leaving;
    }

    /// <summary>Legal when it is over, because without a service a node leaves at once.</summary>
    public void GiveUp()
    {
        Require(_membership is Membership.Leaving or Membership.Over, nameof(GiveUp));
        _membership = _membership == Membership.Over ? Membership.Over : Membership.GivenUp;
    }

    public void End() => _membership = Membership.Over;

    public override readonly string ToString() => $"{_connection}, {_membership}{(IsResyncing ? ", resyncing" : "")}";

    private readonly void Require(bool isLegal, string move) =>
        StateMove.Require(isLegal, "membership client", this, move);
}
