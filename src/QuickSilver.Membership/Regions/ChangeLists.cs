namespace QuickSilver.Membership.Regions;

// Lists of what one configuration changes: used again and again, but not kept at the size of the largest change.
internal static class ChangeLists
{
    private const int MostIdle = 64;

    public static void Empty<T>(this List<T> list)
    {
        list.Clear();
        if (list.Capacity > MostIdle)
        {
            list.Capacity = 0;
        }
    }
}
