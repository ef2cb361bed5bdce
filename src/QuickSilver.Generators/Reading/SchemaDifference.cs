using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Reading;

// Whether two contract types are no versions of one type, by the rules with which the membership service compares the contracts of a
// topic. Messages within them are not compared: what is found is a difference, and what is not found is left to the service.
internal static class SchemaDifference
{
    /// <summary>The difference as a part of a sentence; null if none is found.</summary>
    public static string? Find(ContractModel first, ContractModel second)
    {
        bool shares = first.Members.Count == 0 || second.Members.Count == 0;
        foreach (var member in second.Members)
        {
            var same = first.Members.FirstOrDefault(one => one.Number == member.Number);
            shares |= same is not null;
            if (same is not null && same.TypeWord != member.TypeWord)
            {
                return $"field {member.Number} is {Describe(first, same)} and {Describe(second, member)}";
            }

            var renumbered = same?.WireName == member.WireName
                ? null
                : first.Members.FirstOrDefault(one => one.WireName == member.WireName && one.TypeWord == member.TypeWord);
            if (renumbered is not null)
            {
                return $"'{member.WireName}' is field {renumbered.Number} of '{first.Word}' and field {member.Number} of '{second.Word}'";
            }
        }

        return shares ? null : "they share no field number";
    }

    private static string Describe(ContractModel contract, MemberModel member) =>
        $"'{member.WireName}' of type {member.TypeWord} in '{contract.Word}'";
}
