namespace QuickSilver.Membership.Views;

// How a region's members share the work of repair, the same at all of them, so it comes with the view.
// Replicas: members that keep each packet until all hold it, at least. RingSize: seats of a token ring at most.
internal sealed record RepairRules(int Replicas = 5, int RingSize = 16)
{
    public static readonly RepairRules Default = new();

    public bool IsValid => Replicas >= 1 && RingSize >= 2;
}
