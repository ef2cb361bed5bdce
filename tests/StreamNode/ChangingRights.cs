using QuickSilver;

namespace StreamNode;

// Lets one identity publish, and later everybody: so a member gets in of whom those that subscribed before know that it may not publish.
internal sealed class ChangingRights : ITopicRights
{
    public volatile bool AdmitsAll;

    public bool MayPublish(string identity, string topic) => AdmitsAll || identity == "pricer";

    public bool MaySubscribe(string identity, string topic) => true;
}
