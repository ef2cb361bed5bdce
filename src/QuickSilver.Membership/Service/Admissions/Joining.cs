using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Regions.Adoption;
using QuickSilver.Membership.Service.Arbitration;
using QuickSilver.Membership.Service.Configurations;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Topics;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Admissions;

// Takes nodes in: those that are new, those that come from another service, and members that have reconnected.
//
// The steps of a node: Admission checks that it fits and that its life is not over, an older member of the same id gives way to it,
// Entrance tests whether datagrams pass, and then it is a member. A member that has reconnected keeps what it had.
internal sealed class Joining(
    SessionContext context, ConfigurationIssuer issuer, MemberTopics topics, MemberTable members, Admission admission, Joining.IOwner owner)
{
    private readonly JoinRefusals _refusals = new(context);

    internal interface IOwner
    {
        /// <summary>Removes a member. If its life is over, it is notified of the reason and may not return with the same key.</summary>
        void Remove(Member member, string reason, bool isOver);

        /// <summary>The member has confirmed a configuration, with the views that it still has open.</summary>
        void OnConfirm(Member member, OpenViewsMessage confirmed);
    }

    /// <summary>Tries nodes whose datagrams may be lost, before they are members.</summary>
    public required Entrance Entrance { get; init; }

    /// <summary>The registration begins with the identity of the node. The topics that it has open follow.</summary>
    public void Begin(ControlSession session, JoinMessage join)
    {
        if (admission.Refuse(join, session.RemoteEndPoint?.Address) is { } refusal)
        {
            _refusals.Refuse(session, refusal);
        }
        else if (admission.EndOfLife(join) is { } reason)
        {
            session.SayLast(ReasonMessage.Expelled(reason));
        }
    }

    /// <summary>
    /// The registration is complete. Called again when the node has shown that datagrams pass, because all else may have changed.
    /// </summary>
    public void Complete(ControlSession session, JoinMessage join, List<SetTopicMessage> topics)
    {
        // Asked again, since this life may have been replaced since Begin.
        if (admission.EndOfLife(join) is { } reason)
        {
            session.SayLast(ReasonMessage.Expelled(reason));
            return;
        }

        var known = members.FindById(join.Node.Id);
        if (known is not null && Admission.IsOfOther(known, session, join))
        {
            if (known.IsProved || !join.IsProved)
            {
                _refusals.Refuse(session, $"The key {known.Key} is that of another member. Restart this node.");
                return;
            }

            admission.OnProved(join.Node.Id);
            owner.Remove(known, "its key is that of another node, which has proved it", isOver: false);
            known = null;
        }

        if (known is not null)
        {
            // A member that was welcomed here and has got no configuration since has not changed.
            if (known.Key == join.Node && (join.Service == issuer.Life || join.Origin == known.Info.Origin))
            {
                Resume(known, session, join, topics);
                return;
            }

            bool isSameLife = known.Key == join.Node;
            owner.Remove(known, isSameLife ? "it returned from another service" : "a newer incarnation joined", isOver: !isSameLife);
        }

        if (issuer.IsBeingRemoved(join.Node))
        {
            // It may come back once the configuration that removes it was made.
            session.Close("its move from another service is not complete yet");
            return;
        }

        if (session.IsProving || Entrance.MayEnter(session, join, () => Complete(session, join, topics)))
        {
            Admit(session, join, topics);
        }
    }

    private void Admit(ControlSession session, JoinMessage join, List<SetTopicMessage> opened)
    {
        foreach (var ended in admission.OnReported(join))
        {
            owner.Remove(ended, "the membership service removed it before another one took over", isOver: true);
        }

        long order = admission.OnAdmitted(join);
        ulong identity = topics.Rights is null ? IdentityId.None : IdentityId.Of(session.Peer?.Name);
        var info = new NodeInfo(join.Node, join.EndPoint, order, Origin: join.Origin, Identity: identity) { Name = join.Name };
        var member = new Member(info, join, context.Kept);
        if (join.WasMember)
        {
            issuer.OnReturned(join);
        }

        members.Add(member, context.Environment.Now);
        var held = join.WasMember && issuer.Numbers.Current == 0
            ? AdoptableViews.Of(opened.Select(static topic => (topic.Topic.TopicId, topic.Region, topic.View)), join.Known)
            : null;
        issuer.Map.AddNode(join.Node, hasReturned: join.WasMember, join.Origin, held, join.KnownNodes);
        Attach(member, session, isResumed: false);
        topics.Rights?.OnMember(member.Identity);
        Register(member, opened);
        context.Counters.NodesJoined++;
        context.Logger.NodeJoined(member.Named, join.EndPoint, opened.Count);
        if (session.Peer is { } peer)
        {
            context.Audit.NodeAdmitted(member.Named, session.RemoteEndPoint, peer.Name);
        }

        issuer.MarkChanged();
    }

    private void Resume(Member member, ControlSession session, JoinMessage join, List<SetTopicMessage> opened)
    {
        var old = member.Session;
        member.Session = null;
        old?.Close("the node reconnected on another connection");
        member.Info = member.Info with { EndPoint = join.EndPoint };
        member.IsProved |= join.IsProved;
        Attach(member, session, isResumed: true);
        Register(member, opened);
        topics.CloseUnnamed(member, opened);
        context.Counters.NodesResumed++;
        context.Logger.NodeResumed(member.Named);
        issuer.Replay(member, join.Known);
        owner.OnConfirm(member, OpenViewsMessage.Confirm(join.Confirmed, join.Open));
        issuer.Settlement.SendTo(member);
        issuer.MarkChanged();
    }

    private void Attach(Member member, ControlSession session, bool isResumed)
    {
        member.Session = session;
        member.Identity = session.Peer?.Name ?? member.Identity;
        session.Attach(member);
        members.Hear(member, context.Environment.Now);
        session.Send(issuer.Welcome(isResumed));
        issuer.Waiting.Notify(session);
    }

    private void Register(Member member, List<SetTopicMessage> opened)
    {
        foreach (var topic in opened)
        {
            topics.Set(member, topic, isRegistration: true);
        }
    }
}
