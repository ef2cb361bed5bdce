using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Sessions;

// What a session hands on: whole, well-formed requests in the order that the protocol allows.
internal interface IControlRequests
{
    void OnJoin(ControlSession session, JoinMessage join);

    void OnJoinComplete(ControlSession session, JoinMessage join, List<SetTopicMessage> topics);

    void OnSetTopic(Member member, SetTopicMessage request);

    void OnCloseTopic(Member member, CloseTopicMessage request);

    /// <summary>Sessions may keep too much of what they have to send.</summary>
    void OnMuchKept();

    void OnConfirm(Member member, OpenViewsMessage request);

    void OnHeartbeat(Member member, long known);

    void OnSuspect(Member member, NodeKey node, string reason);

    /// <summary>An inquiry's answer, of a member or of a node that is tried before it becomes one.</summary>
    void OnFindings(ControlSession session, FindingsMessage findings);

    /// <summary>A request of an observer, which is no member. Also the first message of its session.</summary>
    void OnWatch(ControlSession session, WatchMessage watch);

    /// <summary>As OnWatch.</summary>
    void OnListTopics(ControlSession session, ListTopicsMessage request);

    /// <summary>The vital signs of a member, as they came.</summary>
    void OnSigns(Member member, ulong question, byte[] signs);

    void OnPaused(Member member, PausedMessage pause);

    void OnFollowTopics(Member member, FollowTopicsMessage request);

    void OnLeave(Member member);

    void OnResync(Member member);

    /// <summary>Called once, by whichever side the session was closed.</summary>
    void OnSessionClosed(ControlSession session);
}
